# Beacons of two runs that are over, replayed in turn, five a second: nobody shakes hands anew beyond a few
# times a minute, and nobody is told to delete its identity.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED"
config a agent "$SENSOR
$FIXED"
collect c
attack ears x capture interface=eth1 count=3 seconds=90
agent a
must "connected" until_true 30 connected a
heard() { [ "$(grep -c "^$(member a peer)" "$LAB/ears.out")" -ge "$1" ]; }
must "the first run is heard" until_true 30 heard 1
stop "$agent_a" KILL
agent a
must "the second run is heard" until_true 30 heard 2
stop "$agent_a" KILL
agent a
must "connected again" until_true 30 connected a
sleep 2
grep "^$(member a peer)" "$LAB/ears.out" | head -n 2 >"$LAB/old"
# The sender's address is forged: the agent's own, for which the rogue answers nobody.
in_host x sysctl -qw net.ipv4.conf.all.arp_ignore=8
ip -n "$NS-x" addr add 10.77.1.2/32 dev lo
in_host c nft -f - <<'NFT'
table inet count {
    counter handshakes { }
    chain in { type filter hook input priority 0; udp length > 60 @th,64,8 0x50 counter name handshakes; }
}
NFT
handshakes() { in_host c nft list counter inet count handshakes | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
attack replay x replay interface=eth1 "file=$LAB/old" from=10.77.1.2 pause=200 seconds=12
must "it ends" attacked replay
measured "handshake datagrams to the collector in 12 s: $(handshakes)"
# A handshake is some three datagrams from one side.
must "few handshakes ($(handshakes) datagrams)" [ "$(handshakes)" -le 12 ]
must "nobody is told to delete an identity" eval '! grep -h "identity.pem" "$LAB"/*.err'
must "readings still come" more_rows c a 15
must "the agent is still connected" connected a
