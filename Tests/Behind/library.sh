# Sourced by the cases: a collector `c` with outputs, agents, and what its store has against what a server has.
# Servers run in the collector's namespace (`start server c …`), on its loopback: ports never collide.

# site [AGENT…]: the namespaces of c and agents (a), in one LAN.
site() {
    [ $# -gt 0 ] || set -- a
    host c "$@"
    lan 1 c "$@"
}

# collector_up [OUTPUTS [MORE]]: configures c, whose `outputs:` are these lines of YAML (each output `- …`), and
# starts it. MORE are other keys, such as `collector: {window: 1s}`.
collector_up() {
    collector_config "$@"
    collector_again
}

# collector_config [OUTPUTS [MORE]]: writes c's configuration only.
collector_config() {
    local outputs=
    [ -z "${1:-}" ] || outputs="outputs:
$(sed 's/^/  /' <<<"$1")"
    config c collector "$outputs
${2:-}"
}

# collector_again: starts c, and waits until it answers. Its output is added to what there is.
collector_again() {
    [ ! -e "$LAB/collect_c.err" ] || cat "$LAB/collect_c.err" >>"$LAB/collect_c.before.err"
    collect c
    until_true 60 answers c || fail "the collector does not start"
}

answers() { status "$1" >/dev/null 2>&1; }

# collector_down [SIGNAL]: TERM unless told otherwise.
collector_down() { stop "$collect_c" "${1:-TERM}"; }

# agent_up [NAME [SENSORS [MORE]]]: an agent (a) in the host of its name, configured so.
agent_up() {
    agent_config "$@"
    agent "${1:-a}"
}

# agent_config [NAME [SENSORS [MORE]]]: writes its configuration only. Without SENSORS it counts: channel `count`
# has 1, 2, 3… five times a second, channel `bench` always 21.5 °C.
agent_config() {
    local name=${1:-a}
    cat >"$LAB/count_$name.sh" <<SH
n=\$((\$(cat "$LAB/count_$name" 2>/dev/null || echo 0) + 1))
echo \$n >"$LAB/count_$name"
echo \$n
SH
    local sensors="sensors:
  - {driver: command, run: [/bin/sh, $LAB/count_$name.sh], every: 200ms, name: count, unit: \"1\"}
  - {driver: command, run: [/bin/echo, \"21.5\"], every: 200ms, name: bench, unit: Cel}"
    config "$name" agent "${2:-$sensors}
report: {wait: 0s}
${3:-}"
}

# agent_down [NAME]: in order: what it has, it has delivered.
agent_down() {
    local id=agent_${1:-a}
    stop "${!id}"
}

# readings [NAME]: how many are in the store of c (or another collector).
readings() { stored_readings "${1:-c}"; }

# has_readings COUNT [NAME]
has_readings() { [ "$(readings "${2:-c}")" -ge "$1" ] 2>/dev/null; }

# more_readings COUNT [SECONDS]: so many more than now come within that time (60 s).
more_readings() { until_true "${2:-60}" has_readings $(($(readings) + $1)); }

# stored [NAME]: every reading in its store as `rivulet query` has it, a JSON object a line.
stored() { "$BIN/rivulet" query --config "$LAB/${1:-c}.yaml" --format json; }

# keys: of JSON objects with these members: `peer run sequence`, separated by tabs, sorted; doubles stay.
keys() { jq -r '[.peer, .run, .sequence] | @tsv' | LC_ALL=C sort; }

# values: `peer run sequence channel value`, the same way; a null is empty.
values() { jq -r '[.peer, .run, .sequence, .channel, .value] | @tsv' | LC_ALL=C sort; }

# same AS COMMAND…: what the command prints, sorted, is what AS (keys, values) makes of the store of c: no
# reading is missing, none is there twice.
same() {
    local as=$1
    shift
    stored | "$as" >"$LAB/expected"
    "$@" 2>"$LAB/found.log" | LC_ALL=C sort >"$LAB/found"
    [ -s "$LAB/expected" ] && cmp -s "$LAB/expected" "$LAB/found"
}

# becomes_same SECONDS AS COMMAND…: after the agents have stopped; shows what differs if it does not.
becomes_same() {
    local seconds=$1
    shift
    until_true "$seconds" same "$@" && return
    echo "$(wc -l <"$LAB/expected") in the store, $(wc -l <"$LAB/found") on the other side; first differences:"
    diff "$LAB/expected" "$LAB/found" | head -n 6
    head -n 3 "$LAB/found.log"
    return 1
}

# output NAME MEMBER: a member of one output in the status of c: phase, waiting, lag, delivered, refused, lost, fault.
output() {
    status c 2>/dev/null |
        jq -r --arg name "$1" --arg member "$2" '.outputs[]? | select(.name == $name) | .[$member]'
}

# output_is NAME MEMBER VALUE
output_is() { [ "$(output "$1" "$2")" = "$3" ]; }

# output_at_least NAME MEMBER NUMBER
output_at_least() { [ "$(output "$1" "$2")" -ge "$3" ] 2>/dev/null; }

# said PATTERN: how many lines of c's log, since it started last, match.
said() { grep -cE -- "$1" "$LAB/collect_c.err"; }

# says PATTERN, says_once PATTERN
says() { [ "$(said "$1")" -ge 1 ]; }
says_once() { [ "$(said "$1")" = 1 ]; }

# reload: c reads its configuration again.
reload() { kill -HUP "$collect_c"; }
