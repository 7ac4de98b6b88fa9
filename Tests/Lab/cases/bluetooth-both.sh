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
must "readings" until_true 40 has_rows c a
over() { status a | tr ',' '\n' | grep -q "\"interface\":\"$1\""; }
must "over Ethernet" until_true 30 over lab1
proved() { status a | grep -q '"links":2,'; }
must "the Bluetooth link is proved as well" until_true 60 proved
opened() { status a | grep -o '"openedAtMilliseconds":[0-9]*'; }
before=$(opened)
ip link set lab0 down
must "over Bluetooth" until_true 30 over 'hci[01]'
must "readings go on" more_rows c a 30
must "on the same channel" [ "$(opened)" = "${before:-none}" ]
must "never lost" [ "$(grep -c 'does not answer any more' "$LAB/agent_a.err")" = 0 ]
