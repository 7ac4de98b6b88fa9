#!/usr/bin/env bash
# Prints the agent's resident memory and what of it is its own and written, in kB: 20 channels at 1 Hz, a collector, encryption on.
# As root, with BIN.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
host c a
lan 1 c a
secret "$LAB/secret"
{
    printf time
    for i in $(seq 20); do printf ',channel%s [Cel]' "$i"; done
    echo
    for second in $(seq 0 60); do
        printf '%s' "$second"
        for i in $(seq 20); do printf ',%s.%s' "$((20 + second % 5))" "$i"; done
        echo
    done
} >"$LAB/day.csv"
config c collector
config a agent "sensors:
  - {driver: replay, file: $LAB/day.csv, every: 1s}"
start collect c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format json --every 1s
agent a
sleep 10
sync
grep -q channel20 "$LAB/collect.out" || { cat "$LAB"/*.err >&2; exit 1; }
awk '/^Rss:/ { rss += $2 } /^Private_Dirty:/ { private += $2 } END { print rss, private }' \
    "/proc/$agent_a/smaps_rollup"
