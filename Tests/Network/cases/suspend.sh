# An agent that is stopped for 20 s, as suspend does it, goes on where it was; nothing is missing.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 30 has_rows c a
kill -STOP "$agent_a"
sleep 20
kill -CONT "$agent_a"
must "readings within three seconds" more_rows c a 3
sleep 2
must "nothing is missing" until_true 30 has_all c
