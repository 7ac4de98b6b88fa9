# One of two interfaces is configured: over the other nobody is answered or admitted and nothing is sent, to
# whichever of our addresses it comes. Loopback and a peer behind a gateway work as before.
host a c b r g
lan 1 a c r
lan 2 a b
lan 3 r g
in_host r sysctl -qw net.ipv4.ip_forward=1
ip -n "$NS-a" route add default via 10.77.1.3
ip -n "$NS-g" route add default via 10.77.3.1
ip -n "$NS-b" route add 10.77.1.0/24 via 10.77.2.1
# What the agent sends over eth2, from its data port.
in_host a nft add table inet watch
in_host a nft add chain inet watch out '{ type filter hook output priority 0; }'
in_host a nft add rule inet watch out oifname eth2 udp sport 4577 counter
config c collector
config a agent "links: {udp: {port: 4577, interfaces: [eth1], peers: ['10.77.3.2:4577']}}
$SENSOR"
config g agent 'links: {udp: {port: 4577}}'
config b agent "links: {udp: {peers: ['10.77.2.1:4577', '10.77.1.1:4577']}}"
config own agent "links: {udp: {port: 4578, interfaces: [lo], beacon: false, peers: ['127.0.0.1:4577']}}"
collect c
agent a
agent g
agent b
start agent_own a "$BIN/rivulet-agent" --config "$LAB/own.yaml"
neighbour() { grep -q "neighbour $2 " "$LAB/agent_$1.err"; }
must "readings over eth1" until_true 30 has_rows c a
must "the peer behind the gateway" until_true 30 neighbour a g
must "the neighbour on this machine" until_true 30 neighbour own a
refused() { [ "$(drops a interface-not-configured)" -gt 3 ]; }
must "what came over eth2 is counted" until_true 30 refused
sleep 3
must "nobody on eth2 was admitted" [ "$(grep -c 'neighbour' "$LAB/agent_b.err")" = 0 ]
must "nor by the agent" [ "$(grep -c 'neighbour b ' "$LAB/agent_a.err")" = 0 ]
must "nothing left over eth2" bash -c "ip netns exec '$NS-a' nft list table inet watch | grep -q 'packets 0 '"
