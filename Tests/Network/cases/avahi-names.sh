# Three nodes of one name, as from one flashed card: at most one of them gets it, the others take another
# one; all are found.
. Tests/Network/avahi.sh
host c a b d
lan 1 c a b d
config c collector "$ALONE"
for name in c a b d; do
    bus $name
    avahi $name
done
for name in a b d; do
    config $name agent "$ALONE
$SENSOR"
    sed -i 's/^name: .*/name: pi/' "$LAB/$name.yaml"
done
collect c
for name in a b d; do agent $name; done
for name in a b d; do must "$name has a collector" until_true 40 connected $name; done
has_three() { [ "$(browse c 2>/dev/null | grep -cE '^=;eth1;IPv4;pi.*"role=agent"')" = 3 ]; }
must "three services" until_true 40 has_three
names=$(for name in a b d; do member $name serviceName; done | sort -u)
must "three names" [ "$(wc -l <<<"$names")" = 3 ]
must "all begin with it" [ "$(grep -c '^pi' <<<"$names")" = 3 ]
for name in a b d; do
    must "$name says under which name" says $name "published as \"$(member $name serviceName)\""
done
has_three_peers() { [ "$(sql c "SELECT count(DISTINCT peer_id) FROM runs")" = 3 ]; }
must "readings of three peers" until_true 30 has_three_peers
