#!/usr/bin/env bash
# One run of one measurement of journal and receipts; prints its numbers. Started by run.sh.
#   journal.sh rate CHANNELS MILLISECONDS   bytes on the wire a reading: sent, and both ways; bytes on disk a reading
#   journal.sh memory                       kB that a full journal in memory takes, and its readings
#   journal.sh backlog                      readings a second after an outage of an hour of 50 channels at 1 Hz
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
secret "$LAB/secret"

# recording CHANNELS STEP ROWS SEED: two decimals that wander, a row each STEP seconds.
recording() {
    awk -v channels="$1" -v step="$2" -v rows="$3" -v seed="$4" 'BEGIN {
        srand(seed); printf "time"; for (c = 1; c <= channels; c++) printf ",s%dc%d [Cel]", seed, c; print ""
        for (c = 1; c <= channels; c++) v[c] = 1500 + int(rand() * 1000)
        for (t = 0; t < rows; t++) {
            printf "%.2f", t * step
            for (c = 1; c <= channels; c++) { v[c] += int(rand() * 21) - 10; printf ",%.2f", v[c] / 100 }
            print ""
        }
    }'
}

member() { status "$1" 2>/dev/null | tr ',{}' '\n' | sed -n "s/^ *\"$2\": *//p" | head -1; }
counter() { in_host a cat "/sys/class/net/eth1/statistics/$1_bytes"; }
waits_at_least() { [ "$(member a readingsWaiting)" -ge "$1" ] 2>/dev/null; }
waits_at_most() { [ "$(member a readingsWaiting)" -le "$1" ] 2>/dev/null; }

host c a
lan 1 c a
for name in c a; do in_host $name sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
config c collector
collector() { start collect c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format csv; }

case $1 in
rate)
    recording "$2" "$(awk "BEGIN { print $3 / 1000 }")" 2000 1 >"$LAB/day.csv"
    config a agent "sensors: [{driver: replay, file: $LAB/day.csv, every: ${3}ms}]"
    collector
    agent a
    until_true 10 waits_at_least 1
    sleep 5
    sent=$(counter tx) received=$(counter rx) readings=$(member a readings) disk=$(member a spoolBytesWritten)
    sleep 20
    sent=$(($(counter tx) - sent)) received=$(($(counter rx) - received)) readings=$(($(member a readings) - readings))
    disk=$(($(member a spoolBytesWritten) - disk))
    awk "BEGIN { printf \"%.2f %.2f %.2f\n\", $sent / $readings, ($sent + $received) / $readings, $disk / $readings }"
    ;;
memory)
    sensors="sensors:"
    for i in 1 2 3 4 5; do
        recording 20 0.01 3000 $i >"$LAB/$i.csv"
        sensors+="
  - {driver: replay, file: $LAB/$i.csv, every: 10ms}"
    done
    config a agent "$sensors
journal: {spool: 0}"
    agent a
    until_true 5 status a >/dev/null
    sleep 6
    rss() { awk '/^Rss:/ { print $2 }' "/proc/$agent_a/smaps_rollup"; }
    before=$(rss) held=$(member a journalBytes)
    lost() { [ "$(member a readingsLost)" -gt 0 ] 2>/dev/null; }
    until_true 300 lost
    echo "$(($(rss) - before)) $(member a readingsWaiting) $held"
    ;;
backlog)
    recording 50 0.01 3000 1 >"$LAB/day.csv"
    config a agent "sensors: [{driver: replay, file: $LAB/day.csv, every: 10ms}]"
    sed 's/^sensors:.*//' "$LAB/a.yaml" >"$LAB/quiet"
    agent a
    until_true 200 waits_at_least 180000
    cp "$LAB/quiet" "$LAB/a.yaml"
    kill -HUP "$agent_a"
    sleep 1
    waiting=$(member a readingsWaiting)
    collector
    until_true 20 waits_at_most $((waiting - 1))
    began=$(date +%s%N)
    until_true 200 waits_at_most 0
    awk "BEGIN { printf \"%.0f\n\", $waiting / (($(date +%s%N) - $began) / 1e9) }"
    ;;
esac
