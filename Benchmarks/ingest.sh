#!/usr/bin/env bash
# ingest.sh viewer|store READINGS SECONDS: floods a collector on one processor, without or with a store, from another one,
# with reports of so many readings each, by four agents (no agent may bring more than a million readings a second). Prints reports sent a second, readings taken a second, and what in a hundred
# of the readings sent was not taken. Started by run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
secret "$LAB/secret"
what=$1 readings=$2 seconds=$3
store='store: off'
[ "$what" = viewer ] || store="store: $LAB/readings.sqlite"
host c a
lan 1 c a
config c collector "collector: {$store, readings-per-agent: 1000000, store-per-agent: 1024GiB}"
start collect c taskset -c 0 "$BIN/rivulet" collect --config "$LAB/c.yaml" --format json --every 1s
until_true 30 status c >/dev/null 2>&1
floods=()
for number in 1 2 3 4; do
    config "flood$number" agent
    start "flood_$number" a taskset -c "$(($(nproc) - 1))" \
        "$BIN/ingest" "$LAB/flood$number.yaml" "$readings" "$((seconds + 3))"
    floods+=($!)
done
wait "${floods[@]}"
sent=$(awk '{ sum += $1 } END { print sum }' "$LAB"/flood_*.out)
# Until it has worked off what it has, and closed its windows.
sleep 3
stop "$collect"
# Whole seconds in the middle: the first and the last are not full.
grep '"node":"flood' "$LAB/collect.out" | grep '"closed":true' |
    sed 's/.*"start":"\([^"]*\)".*"count":\([0-9]*\),.*/\1 \2/' |
    awk '{ sum[$1] += $2 } END { for (start in sum) print start, sum[start] }' | sort | sed '1d;$d' |
    awk -v sent="$sent" -v readings="$readings" '{ sum += $2 } END {
        taken = NR ? sum / NR : 0
        printf "%d %d %.1f\n", sent, taken, 100 * (1 - taken / (sent * readings)) }'
