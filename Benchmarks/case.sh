#!/usr/bin/env bash
# One run of one measurement; prints its numbers. Started by run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
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
    until_true 5 status c >/dev/null 2>&1
    sleep 1
}

case $1 in
connect)
    pair_up
    began=$(now)
    agent a
    until_true 10 connected
    at=$(status a | grep -o '"firstConnectedNanoseconds":[0-9]*' | grep -o '[0-9]*$')
    echo $(((at - began) / 1000000))
    ;;
first-reading)
    pair_up
    began=$(now)
    agent a
    until_true 10 reported
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
    until_true 10 reported
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
    wait "$receive"
    cat "$LAB/receive.out"
    ;;
esac
