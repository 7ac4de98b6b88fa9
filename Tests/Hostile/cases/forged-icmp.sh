# An outsider tells the agent thousands of times that nobody listens at its relay's port: that costs a question
# now and then, and neither the route nor a reading.
. Tests/Hostile/hostile.sh
gcc -Wall -Werror -O1 -o "$LAB/forged_icmp" Tests/Hostile/forged_icmp.c
host c r a x
for name in c r a x; do in_host $name sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1; done
lan 1 c r
lan 2 r a x
config c collector
config r relay "$FIXED"
config a agent "$FIXED
sensors:
  - {driver: command, run: [\"/bin/echo\", \"21.5\"], every: 100ms, name: bench, unit: Cel}
report: {wait: 0s}"
collect c --trace
agent r
agent a
must "readings over the relay" until_true 30 has_rows c a
sleep 1
before=$(date +%s%N)
watch_machine
start forger x "$LAB/forged_icmp" 10.77.2.2 10.77.2.1 "$PORT" 2000 6
attacked forger
gap=$(awk -v from="$before" '
    $1 == "report" { if (last && $2 > from && $2 - last > gap) gap = $2 - last; last = $2 }
    END { printf "%d", gap / 1000000 }' "$LAB/collect_c.err")
count=$(drops a datagram-returned)
measured "$count forged errors counted, longest gap between reports $gap ms"
must "the errors came to the agent" [ "$count" -gt 1000 ]
must "readings went on (a gap of $gap ms, of the machine $(machine_late) ms)" [ "$gap" -lt $((400 + $(machine_late))) ]
# Without IPv6 some beacons are unreachable anyway; of two hundred datagrams each would meet an error.
failed=$(drops a socket-send-failed) unreachable=$(drops a socket-send-unreachable)
must "no datagram is lost to an error of another ($failed failed)" [ "${failed:-0}" = 0 ]
must "nor was it called unreachable ($unreachable were)" [ "${unreachable:-0}" -lt 20 ]
if grep -q "lost" "$LAB/agent_a.err"; then fail "the relay stays a neighbour"; fi
