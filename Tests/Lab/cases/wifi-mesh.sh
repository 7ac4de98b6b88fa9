# 802.11s without an access point: two ends that do not hear each other, and a relay that hears both.
. Tests/Lab/guest.sh
radios c r a
hears c 1
hears r 3
hears a 2
for name in c r a; do
    must "$name joins the mesh" wifi $name up garden
done
grep -q 'mesh network garden' "$LAB/wifi_a.out" || fail "mesh is what the script chooses"
config c collector
config r relay
config a agent "$SENSOR"
collect c
agent r
agent a
must "readings over the relay" until_true 60 has_rows c a
must "two hops" grep -q '"hops":2' "$LAB/collect_c.out"
