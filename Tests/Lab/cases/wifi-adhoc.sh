# Ad-hoc Wi-Fi between two boards, for radios without 802.11s.
. Tests/Lab/guest.sh
radios c a
for name in c a; do
    must "$name joins the network" wifi $name up garden --mode adhoc --channel 6
done
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings over ad-hoc Wi-Fi" until_true 60 has_rows c a
must "one hop" grep -q '"hops":1' "$LAB/collect_c.out"
