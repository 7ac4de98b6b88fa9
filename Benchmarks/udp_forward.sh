#!/bin/sh
# Round trips of bare UDP over 0, 1 and 3 relays, each node in a network namespace of its own, chained by
# veth: the yardstick for ours; and the CPU time, in nanoseconds, that one relay takes for a datagram. Needs root and a C compiler.
#
#   Benchmarks/udp_forward.sh [COUNT] [BYTES] [MICROSECONDS BETWEEN]
set -eu

count=${1:-5000} bytes=${2:-100} pause=${3:-1000}
here=$(dirname "$0")
work=$(mktemp -d)
prefix=udpf$$
processes=

cleanup() {
    for process in $processes; do kill "$process" 2>/dev/null || true; done
    for index in 0 1 2 3 4; do ip netns del "$prefix-$index" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

"${CC:-cc}" -O2 -Wall -Wextra -Werror -o "$work/udp_forward" "$here/udp_forward.c"

# Node 0 — 1 — 2 — 3 — 4; between node n and n+1 the net 10.78.n.0/24, the lower node has .1.
for index in 0 1 2 3 4; do ip netns add "$prefix-$index"; done
for index in 0 1 2 3; do
    next=$((index + 1))
    ip -n "$prefix-$index" link add right type veth peer name left netns "$prefix-$next"
    ip -n "$prefix-$index" address add "10.78.$index.1/24" dev right
    ip -n "$prefix-$next" address add "10.78.$index.2/24" dev left
    ip -n "$prefix-$index" link set right up
    ip -n "$prefix-$next" link set left up
done

start() {
    node=$1
    shift
    ip netns exec "$prefix-$node" "$work/udp_forward" "$@" &
    processes="$processes $!"
    [ -z "${FIFO:-}" ] || chrt -f -p 20 $! >/dev/null || true
}

# Port 6000 echoes on every node; port 600h forwards towards the echo that is h relays further.
for node in 1 2 3 4; do start "$node" echo 6000; done
start 1 forward 6001 10.78.1.2 6000
forwarder=$!
start 1 forward 6003 10.78.1.2 6002
start 2 forward 6002 10.78.2.2 6001
start 3 forward 6001 10.78.3.2 6000
sleep 0.2

for relays in 0 1 3; do
    before=$(cut -d ' ' -f 1 "/proc/$forwarder/schedstat")
    result=$(${FIFO:+chrt -f 20} ip netns exec "$prefix-0" "$work/udp_forward" ping 10.78.0.2 "600$relays" "$count" "$bytes" "$pause")
    # Each passes twice.
    spent=$((($(cut -d ' ' -f 1 "/proc/$forwarder/schedstat") - before) / 2 / count))
    [ "$relays" = 1 ] && cost=" cpu $spent" || cost=
    echo "relays $relays $result$cost"
done
