# A pair that shares Ethernet and Bluetooth loses Ethernet and goes on over Bluetooth, on the same channel.
# at most 180 s
. Tests/Lab/bluetooth.sh
emulated 2
# Two nodes in one namespace: IPv6 between the two ends, which never takes the loopback.
ip link add lab0 type veth peer name lab1
for name in lab0 lab1; do
    sysctl -qw "net.ipv6.conf.$name.accept_dad=0"
    ip link set $name up
done
config c collector "links: {udp: {interfaces: [lab0]}, bluetooth: {adapter: \"${ADDRESSES[0]}\"}}"
config a agent "links: {udp: {interfaces: [lab1]}, bluetooth: {adapter: \"${ADDRESSES[1]}\"}}
$SENSOR"
collect_here c
agent_here a
must "readings" until_true 40 fresh_rows c a
over() { status a | tr ',' '\n' | grep -q "\"interface\":\"$1\""; }
must "over Ethernet" until_true 30 over lab1
must "the Bluetooth link is there as well" until_true 30 links a 1
handshakes=$(grep -c '^neighbour c at' "$LAB/agent_a.err")
ip link set lab0 down
must "over Bluetooth" until_true 30 over 'hci[01]'
must "readings go on" more_readings c a 30
measured "neighbour lines in the agent's log before and after: $handshakes" \
    "$(grep -c '^neighbour c at' "$LAB/agent_a.err")"
