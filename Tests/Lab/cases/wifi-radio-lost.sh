# A radio that is switched off and on again, or whose interface goes down, is in the mesh again by
# itself.
. Tests/Lab/guest.sh
radios c a
for name in c a; do keep_wifi $name garden; done
for name in c a; do must "$name joins" until_true 90 in_network $name; done
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 90 has_rows c a
in_host a ip link set wlan0 down
must "it joins again" until_true 90 in_network a
switched a off
must "the radio is lost" until_true 90 not_in_network a
sleep 5
if in_network a; then fail "a radio that is switched off must stay off"; fi
switched a on
must "it joins once more" until_true 90 in_network a
must "readings after the radio was switched off" more_rows c a 90
stop "$keep_a"
if in_network a; then fail "the end of the service does not leave the network"; fi
