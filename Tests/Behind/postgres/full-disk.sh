# The database's disk is full: told, waited for; when there is room again, nothing is missing.
site
mkdir -p "$LAB/full"
mount -t tmpfs -o size=160m tmpfs "$LAB/full"
chown postgres "$LAB/full"
pg_make "" "$LAB/full"
ln -s "$LAB/full" "$LAB/pg"
pg_up
pg_database
collector_up "$(pg_output)"
agent_up
must "readings arrive" until_true 60 output_at_least pg delivered 20
# A table's file grows by pages: its own tablespace of the disk is filled while the server runs.
dd if=/dev/zero of="$LAB/full/ballast" bs=8k 2>/dev/null
pg_says "CREATE TABLE public.ballast AS SELECT repeat('x', 1000) FROM generate_series(1, 100)" >/dev/null 2>&1
must "it is told" until_true 120 says "pg.*(No space left on device|server closed|Connection refused|terminat)"
must "readings go on" more_readings 60
rm "$LAB/full/ballast"
# A server that could not write its log has ended itself.
pg_answers || { pg_down KILL; pg_up; }
must "then they arrive" until_true 120 output_is pg phase current
agent_down
must "the server has what the store has" becomes_same 90 values pg_values
