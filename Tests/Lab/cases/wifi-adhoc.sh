# Ad-hoc Wi-Fi between two boards, for radios without 802.11s; by IPv6 link-local addresses, or by
# IPv4's.
. Tests/Lab/guest.sh
radios c a
for name in c a; do
    must "$name joins the network" wifi $name up garden --mode adhoc --channel 6
done
config c collector
config a agent "$SENSOR"
collect c
agent a
taken=$(milliseconds_until 90 has_rows c a) || fail "readings over ad-hoc Wi-Fi"
must "one hop" grep -q '"hops":1' "$LAB/collect_c.out"
measured "from the start of two programs to a row: $taken ms"
measure_round_trip a c
for name in c a; do
    in_host $name sysctl -qw net.ipv6.conf.wlan0.disable_ipv6=1
    must "$name has IPv4" wifi $name up garden --mode adhoc --channel 6 --ipv4
    must "an address for the link only" in_host $name ip -4 addr show dev wlan0 scope link
done
must "readings over IPv4" more_rows c a 90
must "c leaves" wifi c down
if in_network c; then fail "c is still in the network"; fi
