#!/usr/bin/env bash
# join.sh AGENTS: one collector, and so many agents that start at once, as boards do when the power returns, in two
# network namespaces, each agent with an address of its own. Prints, a line each: the floor, which is what handshakes
# alone cost all processors; milliseconds until half, nine in ten and all were connected; what both sides computed in
# that time; and what the collector dropped. Started by run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
secret "$LAB/secret"
agents=$1

host c a
lan 1 c a
ulimit -n "$(ulimit -Hn)"
config c collector 'links: {udp: {port: 4577, beacon: false}, avahi: off}'
config a agent 'links: {udp: {beacon: false, peers: ["10.77.1.1:4577"]}, avahi: off}'
. Benchmarks/addresses.sh
. Benchmarks/crowd.sh
own_addresses a "$agents"
in_host c ip route add 10.88.0.0/16 via 10.77.1.2
start collect c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format json
until_true 30 status c >/dev/null 2>&1

# On-CPU milliseconds of all threads of these processes.
cpu() {
    local id
    for id; do cat /proc/"$id"/task/*/schedstat; done | awk '{ sum += $1 } END { printf "%d", sum / 1000000 }'
}

# One loop carries the timers of 240 agents.
cost=$("$BIN/crowd" handshakes 500)
crowds=() processes=$(((agents + 239) / 240))
export CROWD_STOPS=1
for ((number = 0; number < processes; number++)); do
    share=$((agents / processes + (number < agents % processes ? 1 : 0)))
    start "crowd_$number" a "$BIN/crowd" "$LAB/a.yaml" "$share" 1 10000 0
    crowds+=($!)
done
until_true 60 all_stopped
collector_before=$(cpu "$collect") crowds_before=$(cpu "${crowds[@]}")
kill -CONT "${crowds[@]}"
# Seldom: whoever looks takes time from those who join.
POLL=0.5 until_true "${JOIN_SECONDS:-90}" all_connected "$agents" || true
collector_after=$(cpu "$collect") crowds_after=$(cpu "${crowds[@]}")
awk -v agents="$agents" -v cost="$cost" -v cores="$(nproc)" 'BEGIN {
    printf "%d agents, floor: %.0f ms (a handshake costs both sides %.2f ms, %d processors)\n",
        agents, agents * cost / cores / 1e6, cost / 1e6, cores }'
together | awk -v agents="$agents" '
    { last = $2; at = $1 }
    $2 * 2 >= agents && !half { half = $1 }
    $2 * 10 >= agents * 9 && !most { most = $1 }
    END { printf "%d agents, connected: half after %s ms, nine in ten after %s ms, %d after %d ms\n",
        agents, half ? half : "-", most ? most : "-", last, at }'
echo "$agents agents, computed: collector $((collector_after - collector_before)) ms, agents $((crowds_after - crowds_before)) ms"
echo "$agents agents, dropped by the collector: $(status c | grep -o '"drops":{[^}]*}' | head -1 |
    grep -o '"[a-z-]*":[1-9][0-9]*' | tr '\n' ' ')"
