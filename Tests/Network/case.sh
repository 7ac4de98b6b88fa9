#!/usr/bin/env bash
# Runs one case in a lab; on failure prints what every process said.
set -uo pipefail
. Tests/Network/lab.sh

fail() {
    echo "not so: $*"
    local log
    for log in "$LAB"/*.err "$LAB"/*.out; do
        [ -s "$log" ] && { echo "-- $(basename "$log")"; tail -n 15 "$log"; }
    done
    [ "$(type -t at_failure)" != function ] || at_failure
    # Again, where a reader looks last.
    echo "not so: $*"
    exit 1
}

# pretend_clock: processes started from here on, until `unset LD_PRELOAD`, have a wall clock that `jump` sets.
pretend_clock() {
    gcc -shared -fPIC -o "$LAB/wall_clock.so" Tests/Network/wall_clock.c
    head -c 8 /dev/zero >"$LAB/offset"
    export LD_PRELOAD=$LAB/wall_clock.so WALL_CLOCK_OFFSET=$LAB/offset
}

# jump SECONDS: so far from the true time, at once, for all of these.
jump() {
    perl -e 'print pack("q", $ARGV[0])' -- "$1" | dd of="$LAB/offset" conv=notrunc status=none
}

# milliseconds_until SECONDS COMMAND…: how long it took until the command succeeded.
milliseconds_until() {
    local started
    started=$(date +%s%N)
    until_true "$@" || return
    echo $((($(date +%s%N) - started) / 1000000))
}

# A sensor that costs nothing: a number from a shell command.
SENSOR='sensors:
  - {driver: command, run: ["/bin/echo", "21.5"], every: 200ms, name: bench, unit: Cel}
report: {wait: 0s}'

# collect NAME [ARGUMENT…]: the collector configured as NAME prints JSON rows to $LAB/collect_NAME.out.
collect() {
    local name=$1
    shift
    start "collect_$name" "$name" "$BIN/rivulet" collect --config "$LAB/$name.yaml" \
        --format json --every 1s "$@"
}

# rows NAME PEER: how many rows with readings the collector printed about a peer. It prints rows of the silent too.
rows() { grep "\"node\":\"$2\"" "$LAB/collect_$1.out" | grep -vc '"count":0,'; }

# has_rows NAME PEER [AT_LEAST]
has_rows() { [ "$(rows "$1" "$2")" -ge "${3:-1}" ]; }

# more_rows NAME PEER: a new row comes within the given seconds.
more_rows() {
    local before
    before=$(rows "$1" "$2")
    until_true "${3:-20}" has_rows "$1" "$2" $((before + 1))
}

# sql NAME QUERY: of the store of a collector.
sql() { sqlite3 -readonly "$LAB/$1/readings.sqlite" "$2" 2>/dev/null; }

# member NAME KEY: a number or a text out of a node's status.
member() { status "$1" 2>/dev/null | tr ',{}' '\n' | sed -n "s/^ *\"$2\": *\"\{0,1\}\([^\"]*\).*/\1/p" | head -1; }

# at_least NAME KEY NUMBER, at_most NAME KEY NUMBER
at_least() { [ "$(member "$1" "$2")" -ge "$3" ] 2>/dev/null; }
at_most() { [ "$(member "$1" "$2")" -le "$3" ] 2>/dev/null; }

# stored_readings NAME: how many a store has. Those that came in large numbers lie in blocks, the others in rows.
stored_readings() { sql "$1" "SELECT (SELECT count(*) FROM readings) + (SELECT CAST(total(count) AS INTEGER) FROM blocks)"; }

# stored_numbers NAME [RUN]: the numbers of a run's readings in a store, ascending; otherwise of the newest run.
stored_numbers() {
    local run=${2:-$(sql "$1" "SELECT lower(hex(run)) FROM runs ORDER BY id DESC LIMIT 1")}
    "$BIN/rivulet" query --store "$LAB/$1/readings.sqlite" --raw --format json 2>/dev/null |
        sed -nE "s/.*\"run\":\"$run\".*\"sequence\":([0-9]+),.*/\1/p" | sort -n
}

# has_all NAME: the newest run in a store has every reading from the first on, and at least 20.
has_all() { stored_numbers "$1" | awk '$1 != NR { gap = 1 } END { exit gap || NR < 20 }'; }

# has_up_to NAME NUMBER: the store has all readings of the newest run up to this one.
has_up_to() { stored_numbers "$1" | awk -v last="$2" '$1 <= last { n++ } END { exit n != last }'; }

# Not grep -q: who stops reading early ends the writer with an error.
connected() { status "$1" 2>/dev/null | grep '"collector":"' >/dev/null; }

# watch_machine: from now on, how late this machine wakes up who only sleeps: what is no fault of ours. `machine_late` is
# the most so far, in ms.
watch_machine() {
    perl -MTime::HiRes=time,sleep -e 'for (;;) {
        $t = time; sleep 0.01; $d = int((time - $t - 0.01) * 1000); next if $d <= $m; $m = $d;
        open F, ">$ARGV[0].new"; print F $m; close F; rename "$ARGV[0].new", $ARGV[0] }' "$LAB/late" &
    PIDS+=($!)
}

machine_late() { cat "$LAB/late" 2>/dev/null || echo 0; }

trap lab_down EXIT
secret "$LAB/secret"
. "$1"
