# Handshakes that are begun and left, from the newcomer's own address, as behind a router that translates
# addresses: the newcomer, which beacons announced, still comes in.
. Tests/Hostile/hostile.sh
host c b
for name in c b; do in_host $name sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
lan 1 c b
config c collector "$FIXED"
config b agent "$SENSOR"
# The lower PeerID invites: the newcomer has to come to the collector.
identity c high
identity b low
collect c
must "the collector runs" until_true 30 up c
attack flood b handshakes "target=10.77.1.1:$PORT" from=10.77.1.2 rate=50000 seconds=40
sleep 3
agent b
taken=$(milliseconds_until 30 connected b) || fail "a newcomer joins from the address that floods"
measured "from the newcomer's start to the collector: $taken ms"
must "readings" until_true 30 has_rows c b
must "not by luck: the share was full" [ "$(drops c handshake-share-full)" -gt 100 ]
