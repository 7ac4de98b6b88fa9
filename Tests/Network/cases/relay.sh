# A and C share no network: R between them carries the readings.
host c r a
lan 1 c r
lan 2 r a
config c collector
config r relay
config a agent "$SENSOR"
collect c
agent r
agent a
must "readings over the relay" until_true 30 has_rows c a
must "two hops" grep -q '"hops":2' "$LAB/collect_c.out"
