# The agent is killed, loses its state, and comes back as a new peer: it is heard again at once.
host c r a
lan 1 c r
lan 2 r a
config c collector
config r relay
config a agent "$SENSOR"
collect c
agent r
agent a
must "readings before" until_true 15 has_rows c a
stop "$agent_a" KILL
rm -rf "$LAB/a"
agent a
must "readings after" more_rows c a 10
