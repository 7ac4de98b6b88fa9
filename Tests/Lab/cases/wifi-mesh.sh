# 802.11s without an access point: two ends that do not hear each other, and a relay that hears
# both.
. Tests/Lab/guest.sh
radios c r a
hears c 1
hears r 3
hears a 2
for name in c r a; do
    must "$name joins the mesh" wifi $name up garden
done
must "mesh is what the script chooses" grep -q 'mesh network garden' "$LAB/wifi_a.out"
must "both ends are the relay's peers" until_true 90 peers r 2
config c collector
config r relay
config a agent "$SENSOR"
collect c
agent r
agent a
taken=$(milliseconds_until 90 has_rows c a) || fail "readings over the relay"
must "two hops" grep -q '"hops":2' "$LAB/collect_c.out"
measured "from the start of three programs to a row over the relay: $taken ms"
measure_round_trip r c
# The mesh's own forwarding makes one LAN of all: the agent then hears the collector.
stop "$agent_a"
for name in c r a; do
    must "$name forwards" wifi $name up garden --forward
done
rm -rf "$LAB/a"
agent a
must "one hop, with the mesh's forwarding" until_true 90 grep -q '"hops":1' "$LAB/collect_c.out"
