#!/usr/bin/env bash
# babeld.sh killed|silent|carrier: the longest gap, in milliseconds, in a stream of a datagram a millisecond over two
# relays side by side, one of which goes away, where babeld routes (hellos each 0.1 s, updates each 0.4 s, link-detect):
# the yardstick for `recovery`, on the same network. Started by run.sh --peers.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Network/lab.sh
. Benchmarks/diamond.sh
trap lab_down EXIT
. Benchmarks/Peers/packages.sh
packages babeld nftables python3 iputils-ping
diamond
number=0
for name in c r1 r2 a; do
    number=$((number + 1))
    in_host $name ip address add "10.99.0.$number/32" dev lo
    in_host $name sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
    links=$(in_host $name ip -br link | awk '/^eth/ { sub(/@.*/, "", $1); print $1 }')
    # shellcheck disable=SC2086
    start "babeld_$name" $name babeld -I "$LAB/$name.pid" -S "$LAB/$name.state" -d 0 \
        -C 'default hello-interval 0.1' -C 'default update-interval 0.4' -C 'default link-quality false' \
        -C 'link-detect true' -C 'redistribute local ip 10.99.0.0/24 allow' -C 'redistribute local deny' $links
done
reachable() { in_host a ping -I 10.99.0.4 -c 1 -W 1 10.99.0.1 >/dev/null 2>&1; }
until_true 30 reachable || { cat "$LAB"/babeld_*.err >&2; exit 1; }

start receive c python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("10.99.0.1", 6000)); s.settimeout(20)
s.recv(100); last = time.monotonic(); gap = 0
while True:
    if s.recv(100) == b"end": break
    now = time.monotonic(); gap = max(gap, now - last); last = now
print("%.1f" % (gap * 1000))'
start send a python3 -c '
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(("10.99.0.4", 0))
due = time.monotonic()
for number in range(10000):
    try: s.sendto(b"x" * 100, ("10.99.0.1", 6000))
    except OSError: pass
    due += 0.001; time.sleep(max(0, due - time.monotonic()))
for _ in range(50):
    try: s.sendto(b"end", ("10.99.0.1", 6000))
    except OSError: pass
    time.sleep(0.02)'
sleep 3
active=$(relay_in_use)
process=babeld_$active
case $1 in
killed)
    # What forwards is the kernel: a relay whose board dies takes its links with it.
    kill -KILL "${!process}"
    in_host $active sysctl -qw net.ipv4.ip_forward=0
    ;;
silent) silence "$active" ;;
carrier) uncable "$active" ;;
esac
wait "$receive"
cat "$LAB/receive.out"
