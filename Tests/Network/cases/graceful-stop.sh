# SIGTERM ends the agent with status 0, without a socket left behind; the collector hears of it.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings" until_true 30 has_rows c a
kill -TERM "$agent_a"
wait "$agent_a"
must "status 0" [ $? = 0 ]
must "no socket left" [ ! -e "$LAB/a.sock" ]
