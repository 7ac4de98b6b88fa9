# Retention leaves what a server that is away has not got, as long as `hold` says, and deletes what it has; what is
# older than that goes, too. Both are told. Hours pass between two starts: in a time namespace of the kernel's, with a
# wall clock that is as much later, and of which the kernel says that a time service keeps it.
site
pg_ready
pretend_clock
PRELOAD=$LD_PRELOAD
unset LD_PRELOAD
[ "$(unshare -T --boottime 36000 cut -d. -f1 /proc/uptime)" -ge 36000 ] ||
    { echo "this kernel does not give a program another time namespace when it begins"; exit 77; }
# later HOURS COMMAND…: what starts the programs lets them live so many hours later.
later() {
    local program seconds=$(($1 * 3600)) programs=$BIN
    shift
    jump "$seconds"
    mkdir -p "$LAB/later"
    for program in rivulet rivulet-agent; do
        cat >"$LAB/later/$program" <<SH
#!/bin/sh
[ $program = rivulet-agent ] || export WALL_CLOCK_KEPT=1
export LD_PRELOAD=$PRELOAD
exec unshare -T --monotonic $seconds --boottime $seconds $programs/$program "\$@"
SH
        chmod +x "$LAB/later/$program"
    done
    BIN=$LAB/later "$@"
}
# run_later HOURS: agent and collector end in order, when the output that works has all there is; the collector starts
# again then.
run_later() {
    agent_down
    # The collector commits once a second.
    sleep 2
    must "the other output has everything" until_true 60 eval '[ "$(output lines delivered)" -ge $((written + $(readings))) ]'
    collector_down
    stored | values >"$LAB/all"
    later "$1" collector_again
}
# Of readings that are deleted meanwhile.
written=0
collector_config "- {name: pg, hold: 2h, postgres: {host: 127.0.0.1, password-file: $LAB/password, time-limit: 3s}}
- {name: lines, json: {file: $LAB/lines.jsonl}}" "collector: {keep: 1h}"
later 0 collector_again
later 0 agent_up
must "readings arrive" until_true 60 pg_has 20
pg_down
must "readings go on" more_readings 40
run_later 2
had=$(wc -l <"$LAB/all")
must "that it is waited for is told" until_true 60 says "output pg is behind: readings older than"
must "once, and of no other" says_once "is behind: readings older"
must "status says so" output_is pg holdsRetention true
must "not of the other" output_is lines holdsRetention false
must "what it has is deleted" until_true 60 eval '[ "$(readings)" -lt '"$had"' ]'
must "what it has not stays" [ "$(readings)" -ge 40 ]
pg_up
must "then it gets it" until_true 60 output_is pg waiting 0
has_all() { pg_values | LC_ALL=C sort >"$LAB/found" && cmp -s "$LAB/found" "$LAB/all"; }
until_true 60 has_all || fail "the server has not every reading once: $(diff "$LAB/all" "$LAB/found" | head -n 6)"
must "none is lost" output_is pg lost 0

pg_down
written=$(($(wc -l <"$LAB/lines.jsonl") - $(readings)))
later 2 agent_up
must "readings go on" more_readings 40
run_later 6
must "that hold is over is told" until_true 60 says_once "output pg is too far behind: .* are deleted"
must "nothing of it is left" until_true 60 eval '[ "$(readings)" = 0 ]'
pg_up
must "it goes on" until_true 90 output_is pg phase current
before=$(pg_count)
later 6 agent_up
must "new readings arrive" until_true 60 pg_has $((before + 20))
must "what is lost is counted" until_true 60 output_at_least pg lost 40
agent_down
must "every reading was delivered or is counted" until_true 60 eval \
    '[ $(($(pg_count) + $(output pg lost))) = $(($(wc -l <"$LAB/lines.jsonl"))) ]'
