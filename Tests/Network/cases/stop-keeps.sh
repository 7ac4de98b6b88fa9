# An agent that is stopped brings to disk what nobody has, and sends it when it is back.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
agent a
must "readings wait" until_true 30 at_least a readingsWaiting 25
last=$(member a readings)
run=$(member a run)
stop "$agent_a"
agent a
collect c
there() { [ "$(stored_numbers c "$run" | wc -l)" -ge "$last" ]; }
must "the run before is there, whole" until_true 40 there
