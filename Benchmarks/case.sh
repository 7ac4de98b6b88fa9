#!/usr/bin/env bash
# One run of one measurement; prints its numbers. Started by run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
. Benchmarks/diamond.sh
trap lab_down EXIT
secret "$LAB/secret"
sensor='sensors:
  - {driver: command, run: ["/bin/echo", "21.5"], every: 1s, name: bench, unit: Cel}'
udp4='links: {udp: {beacon: true}}'

now() { date +%s%N; }
connected() { status a 2>/dev/null | grep -q '"firstConnectedNanoseconds":[0-9]'; }
reported() { grep -q '^report' "$LAB/collect.err"; }

pair_up() {
    host c a
    lan 1 c a
    config c collector
    config a agent "$sensor${1:-}"
    start collect c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format json --trace
    until_true 30 status c >/dev/null 2>&1
    sleep 1
}

case $1 in
connect)
    pair_up
    began=$(now)
    agent a
    until_true 30 connected
    at=$(status a | grep -o '"firstConnectedNanoseconds":[0-9]*' | grep -o '[0-9]*$')
    echo $(((at - began) / 1000000))
    ;;
first-reading)
    pair_up
    began=$(now)
    agent a
    until_true 30 reported
    at=$(awk '$1 == "report" { print $2; exit }' "$LAB/collect.err")
    echo $(((at - began) / 1000000))
    ;;
wire)
    # IPv4 only; frames at the priority of fresh readings begin with 0x88.
    host c a
    lan 1 c a
    for name in c a; do in_host $name sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
    config c collector
    config a agent "$sensor
report: {wait: 0s}"
    start collect c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format json --trace
    agent a
    until_true 30 reported
    in_host a timeout 8 tcpdump -i eth1 -c 6 -e -n 'udp[8] = 0x88' 2>/dev/null |
        grep -o 'length [0-9]*' | awk 'NR % 2 { print $2 }' | sort -n | tail -1
    ;;
latency)
    names=(c)
    for i in $(seq "$2"); do names+=("r$i"); done
    names+=(a)
    host "${names[@]}"
    for ((i = 1; i < ${#names[@]}; i++)); do lan "$i" "${names[i - 1]}" "${names[i]}"; done
    config c collector
    config a agent
    for i in $(seq "$2"); do
        config "r$i" relay
        agent "r$i"
    done
    start receive c "$BIN/latency" receive "$LAB/c.yaml" 1000
    start send a "$BIN/latency" send "$LAB/a.yaml" 1000
    if [ -n "${FIFO:-}" ]; then
        for process in receive send $(seq -f 'agent_r%g' "$2"); do chrt -f -p 20 "${!process}" || true; done
    fi >/dev/null
    wait "$receive"
    cat "$LAB/receive.out"
    ;;
relay)
    # What one relay costs at 1 kHz, and what it passes on when more comes than it can carry.
    host c r a
    lan 1 c r
    lan 2 r a
    config c collector
    config a agent
    config r relay
    agent r
    start receive c "$BIN/latency" receive "$LAB/c.yaml" 8000
    start send a "$BIN/latency" send "$LAB/a.yaml" 8000
    # Datagrams from the sender so far: a busy machine is later than once a millisecond. A few are the mesh's own.
    arrived() { in_host r awk '/eth2:/ { print $3 }' /proc/net/dev; }
    flows() { local before; before=$(arrived); sleep 0.5; [ $(($(arrived) - before)) -ge 100 ]; }
    until_true 20 flows
    sleep 1
    before=$(cut -d ' ' -f 1 "/proc/$agent_r/schedstat")
    datagrams=$(arrived)
    sleep 2
    spent=$(($(cut -d ' ' -f 1 "/proc/$agent_r/schedstat") - before))
    datagrams=$(($(arrived) - datagrams))
    wait "$receive"
    # It would go on, and two do not share a folder.
    stop "$send"
    start receive c "$BIN/latency" receive "$LAB/c.yaml" 2000000
    start flood a "$BIN/latency" flood "$LAB/a.yaml" 500000
    wait "$receive"
    [ -s "$LAB/receive.out" ] || { echo "the relay delivered nothing" >&2; exit 1; }
    awk -v spent=$spent -v datagrams=$datagrams '{ printf "%.2f %d\n", spent / datagrams / 1000, $4 }' "$LAB/receive.out"
    ;;
start)
    # The second start of an agent, which finds its key; the first one makes it.
    pair_up
    for _ in 1 2; do
        began=$(now)
        agent a
        until_true 30 connected
        at=$(status a | grep -o '"firstConnectedNanoseconds":[0-9]*' | grep -o '[0-9]*$')
        printf '%s ' "$(awk -v ns=$((at - began)) 'BEGIN { printf "%.1f", ns / 1000000 }')"
        kill "$agent_a"
        wait "$agent_a" || true
        sleep 2
    done
    echo
    ;;
recovery)
    # Two relays side by side; the one that carries the messages goes away in the middle.
    diamond
    config c collector
    config a agent
    for relay in r1 r2; do
        config $relay relay
        agent $relay
    done
    start receive c "$BIN/latency" receive "$LAB/c.yaml" 8000
    start send a "$BIN/latency" send "$LAB/a.yaml" 8000
    # Over either, messages flow.
    passed() { echo $(($(carried r1) + $(carried r2))); }
    flows() { local before; before=$(passed); sleep 0.5; [ $(($(passed) - before)) -ge 10000 ]; }
    until_true 20 flows
    sleep 2
    active=$(relay_in_use)
    id=agent_$active
    case $2 in
    killed) kill -KILL "${!id}" ;;
    silent) silence "$active" ;;
    carrier) uncable "$active" ;;
    esac
    wait "$receive"
    awk '{ printf "%.1f\n", $3 / 1000 }' "$LAB/receive.out"
    ;;
load)
    # A relay that valgrind slows down, so that one sender brings many times what it can carry. Behind it one node
    # sends a message each 10 ms, 1,500 in all, another one PRIORITY messages (fresh or bulk) without end; with none,
    # nobody does. Prints what the receiver does, and how many times what the relay took came to it. Both ends of what is
    # measured have real-time priority: they share a processor with the flood, which would hold them up and not the relay.
    host c r a b
    lan 1 c r
    lan 2 r a b
    config c collector
    config r relay
    for name in a b; do config $name agent; done
    last=$(($(nproc) - 1))
    start agent_r r taskset -c 0 valgrind -q --tool=none "$BIN/rivulet-agent" --config "$LAB/r.yaml"
    until_true 60 status r >/dev/null 2>&1
    start receive c taskset -c "$last" "$BIN/latency" receive "$LAB/c.yaml" 1600 60
    chrt -f -p 20 "$receive" >/dev/null || true
    # What it meets for the first time costs it milliseconds: a flood of each kind before what is measured.
    for priority in bulk fresh; do
        start flood b taskset -c "$last" "$BIN/latency" flood "$LAB/b.yaml" 1000000000 6 $priority
        wait "$flood"
    done
    [ "$2" = none ] ||
        start flood b taskset -c "$last" nice -n 5 "$BIN/latency" flood "$LAB/b.yaml" 1000000000 40 "$2"
    sleep 3
    start send a taskset -c "$last" "$BIN/latency" seldom "$LAB/a.yaml" 1500 40
    chrt -f -p 20 "$send" >/dev/null || true
    sleep 6
    before=$(status r)
    sleep 5
    after=$(status r)
    wait "$receive"
    [ -s "$LAB/receive.out" ] || { echo "the relay delivered nothing" >&2; exit 1; }
    came() { jq '.received.datagrams, ([.drops | to_entries[] | select(.key | test("^(arrivals|socket-receive)")).value] | add)'; }
    came <<<"$before" >"$LAB/before"
    came <<<"$after" >"$LAB/after"
    awk -v numbers="$(cat "$LAB/receive.out")" '{ more[NR] = $2 - $1 } END { print numbers, (more[1] + more[2]) / more[1] }' \
        <(paste "$LAB/before" "$LAB/after")
    ;;
alarms)
    # Two relays side by side, SECONDS long, at 1 kHz or with all that the sender can send, with a share of LOSS in
    # a hundred on each link: how often a neighbour was given up that was there. One that is stays so for 450 ms.
    seconds=$2 how=$3 loss=$4
    diamond
    config c collector
    config a agent
    for relay in r1 r2; do
        config $relay relay
        agent $relay
    done
    if [ "$loss" != 0 ]; then
        for name in c r1 r2 a; do
            in_host $name nft "add table inet loss; add chain inet loss in { type filter hook input priority 0; }
                add rule inet loss in iifname != lo numgen random mod 100 < $loss drop"
        done
    fi
    start receive c "$BIN/latency" receive "$LAB/c.yaml" 1000000000000 "$seconds"
    start send a "$BIN/latency" "$how" "$LAB/a.yaml" 1000000000000 "$seconds"
    sleep 5
    declare -A given_up
    alarms=0 looks=0
    while kill -0 "$receive" 2>/dev/null && kill -0 "$send" 2>/dev/null; do
        for name in c r1 r2 a; do
            # Both ends close when the time is over.
            seen=$(status $name 2>/dev/null) || continue
            now=$(jq -r '.neighbours[] | select(.cost == 65535) | .peer' <<<"$seen")
            for peer in $now; do
                [[ " ${given_up[$name]:-} " == *" $peer "* ]] || alarms=$((alarms + 1))
            done
            given_up[$name]=${now//$'\n'/ }
            looks=$((looks + 1))
        done
        sleep 0.15
    done
    wait "$receive" "$send" || true
    echo "$alarms $looks $(awk '{ print $4 }' "$LAB/receive.out")"
    ;;
esac
