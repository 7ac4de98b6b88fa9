# Without a collector readings go to disk. Agent killed, started again: what was on disk arrives, with its birth.
# In normal running nothing is written.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR
journal: {spool-after: 3s}"
collect c
agent a
must "readings before" until_true 30 has_rows c a 3
must "nothing is written in normal running" at_most a spoolBytesWritten 0
stop "$collect_c"
must "readings go to disk" until_true 40 at_least a spoolBytesWritten 100
sleep 5
last=$(member a readings)
run=$(member a run)
stop "$agent_a" KILL
segments() { find "$LAB/a/spool" -name '*.spool' | wc -l; }
no_segments() { [ "$(segments)" = 0 ]; }
must "they are on disk" [ "$(segments)" -ge 1 ]
agent a
sleep 1
collect c
# All but what was younger than spool-after, with a second to spare, at five readings a second.
of_run() { stored_numbers c "$run" | wc -l; }
enough() { [ "$(of_run)" -ge $((last - 20)) ]; }
must "the run before is there" until_true 40 enough
echo "$(of_run) of $last readings of the run that was killed"
must "and is not kept any longer" until_true 30 no_segments
must "the agent is rid of its own" until_true 30 at_most a readingsWaiting 15
