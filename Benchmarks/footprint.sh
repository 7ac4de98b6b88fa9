#!/usr/bin/env bash
# An agent with 20 channels at 1 Hz, a collector, encryption on. As root, with BIN.
#
#   Benchmarks/footprint.sh         its resident memory, and what of it is its own and written, in kB
#   Benchmarks/footprint.sh idle    its CPU time a second in ms, and how often a second it wakes
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
until_true 60 grep -q channel20 "$LAB/collect.out" || { cat "$LAB"/*.err >&2; exit 1; }
if [ "${1:-}" = idle ]; then
    spent() {
        echo "$(cut -d ' ' -f 1 "/proc/$agent_a/schedstat")" \
            "$(awk '/^voluntary_ctxt/ { sum += $2 } END { print sum }' /proc/"$agent_a"/task/*/status)"
    }
    read -r time_before wakes_before < <(spent)
    sleep 30
    read -r time_after wakes_after < <(spent)
    awk -v time=$((time_after - time_before)) -v wakes=$((wakes_after - wakes_before)) \
        'BEGIN { printf "%.2f %.1f\n", time / 30 / 1000000, wakes / 30 }'
    exit
fi
awk '/^Rss:/ { rss += $2 } /^Private_Dirty:/ { private += $2 } END { print rss, private }' \
    "/proc/$agent_a/smaps_rollup"
