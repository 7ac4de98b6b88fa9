# An agent that is killed has lost what it held in memory only: the next run says so, and the store has a row
# for the end, of unknown length. One that is stopped in order lost nothing, and has none.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings" until_true 30 has_rows c a 2
# ends: how many rows of the store tell of an end that nobody could count.
ends() { "$BIN/rivulet" query --store "$LAB/c/readings.sqlite" --gaps --format json | grep -c '"count":null'; }
runs() { sql c "SELECT count(*) FROM runs"; }
stop "$agent_a"
agent a
must "a second run" until_true 30 eval '[ "$(runs)" = 2 ]'
must "readings of the second run" until_true 30 has_rows c a 2
stop "$agent_a" KILL
agent a
must "a third run" until_true 30 eval '[ "$(runs)" = 3 ]'
must "the killed run's end is a gap" until_true 40 eval '[ "$(ends)" -ge 1 ]'
must "and only that run's" [ "$(ends)" = 1 ]
must "it says why" grep -q '"reason":"power"' <("$BIN/rivulet" query --store "$LAB/c/readings.sqlite" --gaps --format json)
must "it is the second run" [ "$(sql c "SELECT max(run_id) FROM gaps")" = 2 ]
