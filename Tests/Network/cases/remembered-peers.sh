# Where multicast and broadcast bring nothing: the first run reaches its collector at a configured address, the
# second one finds it again without, also when the collector listens at another port meanwhile.
host c a
lan 1 c a
for name in c a; do
    in_host $name nft add table inet quiet
    in_host $name nft add chain inet quiet out '{ type filter hook output priority 0; }'
    in_host $name nft add rule inet quiet out ip daddr '{ 224.0.0.0/4, 255.255.255.255 }' udp dport 24577 drop
    in_host $name nft add rule inet quiet out ip6 daddr ff12::/16 udp dport 24577 drop
done
config c collector 'links: {udp: {port: 4577}}'
config a agent "$SENSOR"
collect c
agent a
sleep 6
must "without an address there is nobody" [ "$(rows c a)" = 0 ]
stop "$agent_a"
config a agent "links: {udp: {peers: ['10.77.1.1:4577']}}
$SENSOR"
agent a
must "readings at a configured address" until_true 30 has_rows c a
stop "$agent_a"
must "the peer is remembered" grep -q ' 10.77.1.1:4577$' "$LAB/a/peers"
config a agent "$SENSOR"
agent a
taken=$(milliseconds_until 30 connected a) || fail "the second run finds it"
measured "from the start to a remembered collector: $taken ms"
# The collector comes back elsewhere and remembers nobody.
stop "$collect_c"
rm "$LAB/c/peers"
config c collector 'links: {udp: {port: 4600}}'
collect c
must "at another port it is found again" until_true 60 has_rows c a
# What is damaged is told, and does no harm.
stop "$agent_a" KILL
echo nonsense >>"$LAB/a/peers"
agent a
must "the damage is told" until_true 30 grep -q "peers: the remembered peers are not used" "$LAB/agent_a.err"
