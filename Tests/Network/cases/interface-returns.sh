# The agent's interface vanishes and comes back under the same name.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 10 has_rows c a
ip -n "$NS-a" link set eth1 down
sleep 2
ip -n "$NS-a" link set eth1 up
must "readings after" more_rows c a 20
