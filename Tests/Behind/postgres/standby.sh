# A read-only standby takes nothing, which is told; once it is promoted, readings arrive.
site
pg_ready
mkdir "$LAB/standby"
chown postgres "$LAB/standby"
as_postgres "$PG_BIN/pg_basebackup" -h "$LAB/pg" -U postgres -D "$LAB/standby/data" -R -c fast 2>"$LAB/basebackup.log" ||
    fail "no base backup: $(cat "$LAB/basebackup.log")"
echo "port = 5433
unix_socket_directories = '$LAB/standby'" >>"$LAB/standby/data/postgresql.conf"
start standby c setpriv --reuid=postgres --regid=postgres --init-groups "$PG_BIN/postgres" -D "$LAB/standby/data"
must "the standby starts" until_true 60 in_host c pg_isready -q -h "$LAB/standby" -p 5433 -U postgres
collector_up "$(pg_output ", port: 5433")"
agent_up
must "it is told" until_true 60 says "pg.*read-only.*name the primary"
must "readings" more_readings 40
must "once" says_once "name the primary"
PGPORT=5433 pg_says "SELECT pg_promote()" postgres "$LAB/standby" >/dev/null
must "then they arrive" until_true 90 output_is pg phase current
agent_down
of_standby() {
    PGPORT=5433 psql -XAtq -h "$LAB/standby" -U postgres rivulet -c "COPY (SELECT peer, run, sequence, channel,
        coalesce(trim_scale(value)::text, '') FROM rivulet.named_readings) TO STDOUT"
}
must "it has what the store has" becomes_same 60 values of_standby
stop "$standby" INT
