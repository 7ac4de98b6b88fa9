# What the commands say and with which status they end: output that cannot be written, a reader that goes away,
# closed descriptors, stores of other kinds, mistakes on the command line, a node that is just starting.
host a
config a agent "$SENSOR"
config c collector
on="--socket $LAB/a.sock"

# ends STATUS PATTERN COMMAND…: what it says, on whatever, has the pattern.
ends() {
    local wanted=$1 pattern=$2 status
    shift 2
    timeout 20 "$@" >"$LAB/said" 2>&1
    status=$?
    [ $status = "$wanted" ] && { [ -z "$pattern" ] || grep -qE -- "$pattern" "$LAB/said"; } && return
    echo "status $status:"
    cat "$LAB/said"
    return 1
}
must "nobody answers" ends 69 "no node answers at $LAB/a.sock" "$BIN/rivulet" status $on
must "no socket" ends 64 "hostname is not a socket" "$BIN/rivulet" status --socket /etc/hostname
agent a
must "one that is just starting is waited for" ends 0 "a \(agent\) in network" "$BIN/rivulet" status $on

# Standard output that is full is told; one whose reader went away is no fault.
for command in secret "status $on" "status --json $on" "topology $on" "topology --svg - $on" "browse --once $on" \
    "check $LAB/a.yaml" "sensors"; do
    must "full: $command" ends 74 "standard output: No space left" \
        bash -c "exec '$BIN/rivulet' $command >/dev/full"
    must "no reader: $command" ends 0 "" bash -c "set -o pipefail; '$BIN/rivulet' $command | true"
done

# Closed descriptors: what is for them goes nowhere, above all into no file.
stop "$agent_a"
start agent_a a bash -c "exec '$BIN/rivulet-agent' --config '$LAB/a.yaml' --verbose <&- >&- 2>&-"
must "an agent without descriptors" until_true 30 status a
for number in 0 1 2; do
    must "descriptor $number is nobody's" [ "$(readlink "/proc/$agent_a/fd/$number")" = /dev/null ]
done
stop "$agent_a"
must "no log line in a file" [ "$(grep -rl 'is .*, port' "$LAB/a" | wc -l)" = 0 ]

# Roles.
must "an agent is no collector" ends 78 'role agent: .*role: collector' "$BIN/rivulet" collect --config "$LAB/a.yaml"
must "a collector is no agent" ends 78 'role collector: start it with' "$BIN/rivulet-agent" --config "$LAB/c.yaml"

# Files that are not there, alike everywhere.
for command in "check" "status --config" "query --config" "sensors --config" "collect --config"; do
    must "missing: $command" ends 66 "^$LAB/no: No such file or directory; check the path$" \
        "$BIN/rivulet" $command "$LAB/no"
    must "a folder: $command" ends 66 "^$LAB: not a file" "$BIN/rivulet" $command "$LAB"
done
head -c 300000 /dev/zero >"$LAB/long"
must "too long" ends 65 "longer than" "$BIN/rivulet" check "$LAB/long"

must "no folder for a picture" ends 73 "$LAB/none/x.svg cannot be created: there is no folder" \
    "$BIN/rivulet" simulate --nodes 2 --svg "$LAB/none/x.svg"
mkdir "$LAB/boards"
must "no board files" ends 66 "there are no board files in $LAB/boards; copy" \
    "$BIN/rivulet" board --boards "$LAB/boards" raspberrypi,400

# What is no store.
: >"$LAB/empty"
echo text >"$LAB/text"
sqlite3 "$LAB/foreign" 'CREATE TABLE a (b)'
query() { local status=$1 pattern=$2; shift 2; ends "$status" "$pattern" "$BIN/rivulet" query --store "$@"; }
must "empty" query 65 "$LAB/empty is empty" "$LAB/empty"
must "no database" query 65 "$LAB/text is not a store" "$LAB/text"
must "another program's" query 65 "$LAB/foreign is a database of another program" "$LAB/foreign"
must "missing" query 66 "$LAB/none: there is no such file" "$LAB/none"
start collect_c a "$BIN/rivulet" collect --config "$LAB/c.yaml" --format csv
agent a
stored() { [ "$(sql c 'SELECT count(*) FROM readings')" -gt 20 ] 2>/dev/null; }
must "readings" until_true 40 stored
stop "$collect_c"
stop "$agent_a"
store=$LAB/c/readings.sqlite
must "rows" query 0 "bench +21.5" "$store" --limit 3 --last 1h
must "the newest one only" [ "$(wc -l <"$LAB/said")" = 4 ]
cp "$store" "$LAB/damaged"
dd if=/dev/urandom of="$LAB/damaged" bs=4096 seek=2 count=30 conv=notrunc 2>/dev/null
must "a damaged one is named" query 65 "$LAB/damaged is damaged: .*sets a damaged store aside" "$LAB/damaged"
# A reader that may not write beside a store: it reads what nobody else is at.
chmod 755 "$LAB"
cp "$store" "$LAB/other"
chmod 644 "$LAB/other"
as_nobody=(setpriv --reuid=65534 --clear-groups "$BIN/rivulet" query --store "$LAB/other")
must "without permission to write" ends 0 "bench +21.5" "${as_nobody[@]}"
echo log >"$LAB/other-wal"
must "what to do where a log is left" ends 77 "newest readings are in $LAB/other-wal.*copy both" "${as_nobody[@]}"

# Mistakes on the command line say what is meant.
for mistake in "--last 5" "--last -1h" "--window 0s" "--window 10x"; do
    must "$mistake" query 64 "write a number and a unit" "$store" $mistake
done
for mistake in "--from 25:00" "--to tomorrow" "--from 1969-01-01"; do
    must "$mistake" query 64 "write 10:00, today" "$store" $mistake
done
must "an empty span of time" query 64 "is not before --to" "$store" --from 10:00 --to 9:00
for mistake in "--gaps --channel x" "--runs --last 1h" "--runs --from 10:00"; do
    must "$mistake" query 64 "do not narrow --gaps and --runs" "$store" $mistake
done
must "a window of a week" query 64 "--window wants a width from 1ms to 1d" "$store" --window 7d
must "a table each millisecond" ends 64 "--every wants a width" "$BIN/rivulet" collect --every 1ms
must "a negative limit" query 64 "--limit wants a number" "$store" --limit -1
must "a ticket for a year" ends 64 "valid for 1 s to 30 days" "$BIN/rivulet" ticket --valid 365d
must "levels that disagree" ends 64 "exclude each other" "$BIN/rivulet-agent" -q -v
must "one sensor" ends 0 ", 1 sensor$" "$BIN/rivulet" check "$LAB/a.yaml"

# Windows begin at whole seconds, though the clock is read again.
must "whole seconds" [ "$(grep -c '^[^,]*\.[0-9]*Z,' "$LAB/collect_c.out")" = 0 ]

# Times of day are this machine's, in a zone that is named.
agent a
must "in Kolkata" ends 0 '^[0-9:]{8}–[0-9:]{8} IST' ip netns exec "$NS-a" env TZ=Asia/Kolkata "$BIN/rivulet" collect \
    --config "$LAB/c.yaml" --every 1s --once
must "in UTC" ends 0 '^[0-9:]{8}–[0-9:]{8} UTC' ip netns exec "$NS-a" env TZ=Asia/Kolkata "$BIN/rivulet" collect \
    --config "$LAB/c.yaml" --every 1s --once --utc
# A terminal that takes no sequences gets plain tables.
start dumb a script -qfec "env TERM=dumb $BIN/rivulet collect --config $LAB/c.yaml --every 1s --once" /dev/null
must "a table" until_true 30 grep -qa 'NODE  *CHANNEL' "$LAB/dumb.out"
must "without sequences" [ "$(grep -ca "$(printf '\033')" "$LAB/dumb.out")" = 0 ]
