# A chain of three relays.
host c r1 r2 r3 a
lan 1 c r1
lan 2 r1 r2
lan 3 r2 r3
lan 4 r3 a
config c collector
for name in r1 r2 r3; do config $name relay; done
config a agent "$SENSOR"
collect c
for name in r1 r2 r3 a; do agent $name; done
must "readings over three relays" until_true 40 has_rows c a
