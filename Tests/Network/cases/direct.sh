# An agent and a collector on one LAN find each other and readings arrive.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
taken=$(milliseconds_until 30 connected a) || fail "the agent has a collector"
measured "from the start to a collector found by beacon: $taken ms"
must "readings in the table" until_true 30 has_rows c a
must "the value is right" grep -q '"last":21.5' "$LAB/collect_c.out"
