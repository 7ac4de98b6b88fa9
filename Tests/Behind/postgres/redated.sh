# An agent without a clock is dated by a collector whose clock is forty days slow, until it is set right: the readings
# that are in the database move to their true times, into another month's table, and none is there twice.
site
pg_ready
pretend_clock
jump -3456000
collector_up "$(pg_output)"
unset LD_PRELOAD
agent_up
must "readings arrive" until_true 60 pg_has 20
now=$(date +%s)
old() { pg_says "SELECT count(*) FROM rivulet.readings WHERE time < to_timestamp($now) - interval '1 day'"; }
must "with old times" [ "$(old)" -ge 20 ]
jump 0
must "they move" until_true 240 eval '[ "$(old)" = 0 ]'
must "readings go on" more_readings 20
agent_down
times() { jq -r '[.peer, .run, .sequence, .time] | @tsv' | LC_ALL=C sort; }
pg_times() {
    pg_says "SELECT peer, run, sequence, to_char(date_trunc('milliseconds', time), 'YYYY-MM-DD\"T\"HH24:MI:SS')
        || CASE to_char(time, 'MS') WHEN '000' THEN '' ELSE '.' || to_char(time, 'MS') END || 'Z'
        FROM rivulet.named_readings"
}
export PGTZ=UTC
must "with the store's times" becomes_same 90 times pg_times
must "and values" becomes_same 30 values pg_values
