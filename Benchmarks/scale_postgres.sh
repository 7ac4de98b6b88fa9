# Sourced by scale.sh: a PostgreSQL of its own in the host `p`.
PG_BIN=$(find /usr/lib/postgresql/*/bin -maxdepth 0 | sort -V | tail -1)
pg="setpriv --reuid=postgres --regid=postgres --init-groups env HOME=/nonexistent"
chmod a+x "$LAB"
mkdir "$LAB/pg"
chown postgres "$LAB/pg"
$pg "$PG_BIN/initdb" -D "$LAB/pg/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 >"$LAB/initdb.log" 2>&1
cat >>"$LAB/pg/data/postgresql.conf" <<CONF
listen_addresses = '*'
unix_socket_directories = '$LAB/pg'
max_wal_size = 4GB
CONF
echo 'host all all 0.0.0.0/0 scram-sha-256' >>"$LAB/pg/data/pg_hba.conf"
start postgres p $pg "$PG_BIN/postgres" -D "$LAB/pg/data"
until_true 30 in_host p "$PG_BIN/pg_isready" -q -h "$LAB/pg" -U postgres

# sql_says STATEMENT [DATABASE]
sql_says() { in_host p psql -XAtq -F ' ' -h "$LAB/pg" -U postgres -d "${2:-rivulet}" -v ON_ERROR_STOP=1 -c "$1"; }
(umask 077 && echo right-word >"$LAB/password")
sql_says "CREATE ROLE rivulet LOGIN PASSWORD 'right-word'" postgres
sql_says "CREATE DATABASE rivulet OWNER rivulet" postgres

# On-CPU nanoseconds of the server's processes that are there now.
database_cpu() {
    local id
    for id in "$postgres" $(pgrep -P "$postgres"); do cat "/proc/$id/schedstat"; done | awk '{ s += $1 } END { printf "%.0f\n", s }'
}

# database_measured: rows a second over ten seconds, what they cost, and what a row takes.
database_measured() {
    local rows cpu then
    rows=$(sql_says "SELECT count(*) FROM rivulet.readings") cpu=$(database_cpu) then=$(date +%s%N)
    sleep 10
    awk -v rows=$(($(sql_says "SELECT count(*) FROM rivulet.readings") - rows)) -v cpu=$(($(database_cpu) - cpu)) \
        -v time=$(($(date +%s%N) - then)) -v bytes="$(sql_says "SELECT pg_database_size('rivulet')")" \
        -v all="$(sql_says "SELECT count(*) FROM rivulet.readings")" 'BEGIN {
        printf "database: %.0f rows/s, %.0f ms CPU/s, %.0f bytes a row, %d rows\n",
            rows * 1e9 / time, cpu * 1e3 / time, all ? bytes / all : 0, all }'
}
