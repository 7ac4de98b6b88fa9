#!/usr/bin/env bash
# scale.sh AGENTS CHANNELS MILLISECONDS SECONDS: COLLECTORS (1) collectors, each with a store and a page, and so many
# agents at once, in network namespaces. Agents come in processes of STEP (250, the most), JOIN_RATE (10) of them a
# second, the next process when all of the last are connected or after JOIN_SECONDS (120). Then prints, a line each,
# what a collector needs over that many seconds, what its page and queries take, and how far its outputs are behind.
# POSTGRES=1: all of them write into one PostgreSQL. OUTPUTS: other lines for the configuration. PAGES: so many open
# pages beside, measured after that. Started by run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
secret "$LAB/secret"
agents=$1 channels=$2 period=$3 seconds=$4 collectors=${COLLECTORS:-1}
each=$((agents / collectors))
step=${STEP:-250}
[ "$step" -le "$each" ] || step=$each

sites=()
for i in $(seq "$collectors"); do sites+=("c$i"); done
host "${sites[@]}" a p
lan 1 "${sites[@]}" a p
ulimit -n "$(ulimit -Hn)"
from=10.77.1.$((collectors + 1)) database=10.77.1.$((collectors + 2))
outputs=${OUTPUTS:-}
if [ -n "${POSTGRES:-}" ]; then
    . Benchmarks/scale_postgres.sh
    outputs="outputs: [{name: database, postgres: {host: $database, tls: off, password-file: $LAB/password}}]"
fi
. Benchmarks/addresses.sh
own_addresses a "$agents"

# page COLLECTOR PATH: what it answers; spent COLLECTOR PATH: milliseconds and bytes of it.
page() { in_host "$1" curl -sS -m 60 "http://127.0.0.1:8080$2"; }
spent() {
    in_host "$1" curl -sS -m 60 -o /dev/null -w '%{time_total} %{size_download}' "http://127.0.0.1:8080$2" |
        awk '{ printf "%.0f ms, %.0f kB", $1 * 1e3, $2 / 1e3 }'
}
# milliseconds COMMAND…: how long it took.
milliseconds() {
    local begin
    begin=$(date +%s%N)
    "$@" >/dev/null
    echo "$((($(date +%s%N) - begin) / 1000000)) ms"
}
# On-CPU nanoseconds of all threads of a process.
cpu() { cat /proc/"$1"/task/*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }'; }
# Readings that all collectors have taken.
taken() {
    local name
    for name in "${sites[@]}"; do page "$name" /api/fleet | jq .collector.readings; done |
        awk '{ s += $1 } END { printf "%.0f\n", s }'
}
store_bytes() { du -b --total "$LAB/$1"/readings.sqlite* | tail -1 | cut -f1; }
kilobytes() { awk -v name="$1" '$1 == name ":" { print $2 }' "/proc/$2/status"; }
connected() { grep -o '^connected [0-9]*' "$LAB/$1.out" 2>/dev/null | tail -1 | grep -o '[0-9]*$' || echo 0; }
all_connected() { [ "$(connected "$1")" = "$2" ]; }

for name in "${sites[@]}"; do
    config "$name" collector "links: {udp: {port: 4577, beacon: false}, avahi: off}
web: {port: 8080}
$outputs"
    in_host "$name" ip route add 10.88.0.0/16 via "$from"
    start "collect_$name" "$name" "$BIN/rivulet" collect --config "$LAB/$name.yaml" --format json
    until_true 20 status "$name" >/dev/null 2>&1
done

# Agents, step by step.
crowds=()
for name in "${sites[@]}"; do
    address=10.77.1.${name#c}
    for begin in $(seq 0 "$step" $((each - 1))); do
        count=$((each - begin < step ? each - begin : step))
        crowd=crowd_${name}_$begin
        config "$crowd" agent "links: {udp: {beacon: false, peers: [\"$address:4577\"]}, avahi: off}"
        began=$(date +%s%N)
        start "$crowd" a "$BIN/crowd" "$LAB/$crowd.yaml" "$count" "$channels" "$period" 0 "${JOIN_RATE:-10}"
        crowds+=("$crowd")
        until_true "${JOIN_SECONDS:-120}" all_connected "$crowd" "$count" || true
        echo "$name: $(connected "$crowd") of $count agents connected beside $begin after" \
            "$((($(date +%s%N) - began) / 1000000)) ms"
    done
done
# What has waited while others joined is delivered before anything is measured.
sleep "${SETTLE_SECONDS:-20}"

declare -A cpu_then bytes_then
for name in "${sites[@]}"; do
    id=collect_$name
    cpu_then[$name]=$(cpu "${!id}") bytes_then[$name]=$(store_bytes "$name")
done
count_then=$(taken)
then=$(date +%s%N)
sleep "$seconds"
for name in "${sites[@]}"; do
    id=collect_$name
    awk -v cpu=$(($(cpu "${!id}") - cpu_then[$name])) -v time=$(($(date +%s%N) - then)) \
        -v bytes=$(($(store_bytes "$name") - bytes_then[$name])) -v size="$(store_bytes "$name")" \
        -v memory="$(kilobytes VmRSS "${!id}")" -v peak="$(kilobytes VmHWM "${!id}")" \
        -v name="$name" 'BEGIN {
        printf "%s: %.0f ms CPU/s, %.1f MB resident (most: %.1f), store grows by %.0f kB/s to %.0f MB\n",
            name, cpu * 1e3 / time, memory / 1e3, peak / 1e3, bytes * 1e6 / time, size / 1e6 }'
done
awk -v count=$(($(taken) - count_then)) -v time=$(($(date +%s%N) - then)) \
    -v wanted=$((agents * channels * 1000 / period)) 'BEGIN { printf "all: %.0f readings/s taken of %d/s measured\n", count * 1e9 / time, wanted }'

for name in "${sites[@]}"; do
    status "$name" | jq -r --arg name "$name" '.outputs[]? |
        "\($name): output \(.name) \(.phase), \(.lagSeconds) s behind, \(.waiting) waiting, \(.delivered) delivered"'
done
[ -z "${POSTGRES:-}" ] || database_measured
if [ -n "${PAGES:-}" ]; then
    in_host c1 python3 Tests/Behind/web/crowd.py http://127.0.0.1:8080 "$collect_c1" "$PAGES"
fi

# What a person waits for, with all of this going on: the last of the agents, the first of its channels.
node=$(page c1 /api/fleet | jq -r '[.nodes[] | select(.role == "agent")] | last | .peer')
to=$(date +%s)000
hour="from=$((to - 3600000))&to=$to"
for path in /api/fleet /metrics "/api/lines?node=$node&$hour" \
    "/api/chart?node=$node&channel=channel%201&points=600&$hour" "/api/gaps" "/api/mesh?at=$to"; do
    echo "c1: ${path%%\?*} in $(spent c1 "$path")"
done
echo "c1: rivulet query of a channel's last 10 in $(milliseconds in_host c1 "$BIN/rivulet" query --config "$LAB/c1.yaml" \
    --node "$node" --channel "channel 1" --limit 10)"
echo "c1: rivulet status in $(milliseconds status c1)"
echo "c1: rivulet top, once, in $(milliseconds "$BIN/rivulet" top --socket "$LAB/c1.sock")"
for name in "${sites[@]}"; do echo "$name: dropped: $(status "$name" | grep -o '"collectorDrops":{[^}]*}' || true)"; done

for name in "${sites[@]}"; do
    sqlite3 -readonly "$LAB/$name/readings.sqlite" "SELECT '$name: ' || count(*) || ' windows wait to be computed' FROM due_windows"
done

# To the end: what agents measured, and what they still hold, which is not lost.
for crowd in "${crowds[@]}"; do stop "${!crowd}"; done
sleep 3
for name in "${sites[@]}"; do
    id=collect_$name
    stop "${!id}"
done
cat "$LAB"/crowd_*.out | awk '/^readings/ { r += $2; w += $4 } END { printf "agents: %d measured, %d not settled at their end\n", r, w }'
for name in "${sites[@]}"; do sqlite3 -readonly "$LAB/$name/readings.sqlite" 'SELECT count(*) FROM readings; SELECT total(count) FROM blocks'; done |
    awk '{ s += $1 } END { printf "stores: %d readings\n", s }'
