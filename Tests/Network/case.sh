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
    exit 1
}

# must DESCRIPTION COMMAND…
must() {
    local what=$1
    shift
    "$@" || fail "$what"
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

# rows NAME PEER: how many rows the collector printed about a peer.
rows() { grep -c "\"node\":\"$2\"" "$LAB/collect_$1.out"; }

# has_rows NAME PEER [AT_LEAST]
has_rows() { [ "$(rows "$1" "$2")" -ge "${3:-1}" ]; }

# more_rows NAME PEER: a new row comes within the given seconds.
more_rows() {
    local before
    before=$(rows "$1" "$2")
    until_true "${3:-10}" has_rows "$1" "$2" $((before + 1))
}

connected() { status "$1" 2>/dev/null | grep -q '"collector":"'; }

trap lab_down EXIT
secret "$LAB/secret"
. "$1"
