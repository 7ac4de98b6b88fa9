# Every reading comes once, although the server, then the collector are killed while they come.
site
pg_ready
collector_up "$(pg_output)"
agent_up
must "readings arrive" until_true 60 pg_has 20
pg_down KILL
must "readings go on" more_readings 20
must "it is told" until_true 60 says "pg: .*Connection refused"
must "once" says_once "Connection refused"
pg_up
must "it is made up for" until_true 90 output_is pg phase current
for _ in 1 2 3; do
    collector_down KILL
    collector_again
    must "readings" more_readings 15
done
agent_down
must "the server has what the store has" becomes_same 90 values pg_values
must "no key is there twice" test "$(pg_says 'SELECT count(*) - count(DISTINCT (run, sequence)) FROM rivulet.readings')" = 0
must "tables by month, made ahead" test "$(pg_says "SELECT count(*) FROM pg_inherits
    WHERE inhparent = 'rivulet.readings'::regclass")" = 3
must "hours are counted" test "$(pg_says 'SELECT sum(readings) FROM rivulet.named_hours')" = "$(pg_count)"
must "nothing was refused" output_is pg refused 0
