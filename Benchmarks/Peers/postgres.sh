#!/usr/bin/env bash
# postgres.sh READINGS AGENTS: Debian's PostgreSQL with the data of store-bench, as a peer of our store. Prints, a line
# each, `name: value unit`: readings a second that it takes in on one processor, by COPY from four connections and
# prepared files; bytes a reading with the index; one channel over a day as CSV; a chart of everything; its memory after
# that. The columns are as narrow as they get and in an order without gaps. As root. Started by run.sh --peers.
#
# With the value in the index (INCLUDE) queries were no faster, where all is in memory anyway, and a reading took 111
# bytes instead of 84: pages of such an index split in halves, those of one without where the new reading is. From one
# connection, so that readings arrive in order, it takes 76.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Benchmarks/Peers/store_peer.sh
# Its processes end with it only when it is told to.
peer_down() {
    local status=$?
    set +e
    [ -z "${server:-}" ] || stop "$server" INT
    (exit $status)
    lab_down
}

trap peer_down EXIT
packages postgresql postgresql-client python3
PG_BIN=$(find /usr/lib/postgresql/*/bin -maxdepth 0 | sort -V | tail -1)
as_postgres=(setpriv --reuid=postgres --regid=postgres --init-groups env HOME=/nonexistent)
expectations

server_processes() { echo "$server" "$(pgrep -P "$server" | tr '\n' ' ')"; }

# in_psql ARGUMENT…: what the feeder asks.
in_psql() { in_host c taskset -c "$FEEDER_CORE" "$PG_BIN/psql" -XAtq -h "$LAB/pg" -U postgres -v ON_ERROR_STOP=1 "$@"; }

# A file for each client: its share of the transactions.
readings csv | awk -v batch="$BATCH" -v clients="$CLIENTS" -v folder="$LAB" '
    NR % batch == 1 {
        if (file) print "\\." >file
        file = folder "/client." number++ % clients
        print "COPY readings (time, agent, channel, value) FROM STDIN (FORMAT csv);" >file
    }
    { print >file }
    END { print "\\." >file }'

# User postgres has to get there.
chmod a+x "$LAB"
mkdir "$LAB/pg"
chown postgres "$LAB/pg"
"${as_postgres[@]}" "$PG_BIN/initdb" -D "$LAB/pg/data" -A trust -U postgres -E UTF8 --locale=C.UTF-8 \
    >"$LAB/initdb.log" 2>&1 || die "initdb: $(tail -n 3 "$LAB/initdb.log")"
cat >>"$LAB/pg/data/postgresql.conf" <<CONF
listen_addresses = ''
unix_socket_directories = '$LAB/pg'
max_wal_size = 4GB
max_parallel_workers_per_gather = 0
CONF
host c
start server c taskset -c "$SERVER_CORE" "${as_postgres[@]}" "$PG_BIN/postgres" -D "$LAB/pg/data"
until_true 60 "$PG_BIN/pg_isready" -q -h "$LAB/pg" -U postgres || die "PostgreSQL does not start"
in_psql -c "CREATE TABLE readings (
    time timestamptz NOT NULL, value real NOT NULL, agent smallint NOT NULL, channel smallint NOT NULL,
    PRIMARY KEY (agent, channel, time))"

# Each COPY is a transaction, and answered once it is on disk.
send() { in_psql -f "$LAB/client.$1"; }
batches=$(((READINGS + BATCH - 1) / BATCH))
((CLIENTS <= batches)) || CLIENTS=$batches
taken "taken in, $BATCH readings a transaction" fed send
rm "$LAB"/client.*

in_psql -c "VACUUM (ANALYZE) readings" -c CHECKPOINT
all_there "$(in_psql -c "SELECT count(*) FROM readings")"
per_reading "bytes a reading, with its index" "$(in_psql -c "SELECT pg_total_relation_size('readings')")"
per_reading "bytes a reading, the table alone" "$(in_psql -c "SELECT pg_table_size('readings')")"
say "its write-ahead log besides" "$(du -s -BMB "$LAB/pg/data/pg_wal" | sed 's/MB.*//')" MB

# query STATEMENT FILE: CSV, and milliseconds on standard output: of the second time in a session, which is warm.
query() {
    printf '%s\n' '\timing on' "\\o $2.first" "COPY ($1) TO STDOUT (FORMAT csv);" "\\o $2" \
        "COPY ($1) TO STDOUT (FORMAT csv);" | in_psql -f - | awk '/^Time:/ { time = $2 } END { printf "%.1f\n", time }'
}
where="agent = $asked AND channel = 7 AND time >= to_timestamp($from)"
day() {
    query "SELECT time, value FROM readings WHERE $where AND time < to_timestamp($day_end) ORDER BY time" "$LAB/day.csv"
}
chart() {
    query "SELECT date_bin('$width seconds', time, to_timestamp($from)) AS start, avg(value), min(value), max(value)\
 FROM readings WHERE $where AND time < to_timestamp($end) GROUP BY start ORDER BY start" "$LAB/chart.csv"
}
median_of_five "$(day_name)" day
day_is_right "$LAB/day.csv"
median_of_five "$(chart_name)" chart
chart_is_right "$LAB/chart.csv"
server_memory
