#!/usr/bin/env bash
# sqlite_rows.sh READINGS AGENTS: a table in SQLite with the data of store-bench, as the floor of our store, which is
# SQLite, too. Prints, a line each, `name: value unit`: readings a second that its own program takes in on one
# processor, from prepared files, 2,000 a transaction, with our store's pragmas; bytes a reading; one channel over a day
# as CSV; a chart of everything. The table lies in the order in which one asks. As root. Started by run.sh --peers.
set -euo pipefail
BATCH=${BATCH:-2000} CLIENTS=1
cd "$(dirname "$0")/../.."
. Benchmarks/Peers/store_peer.sh
trap lab_down EXIT
packages sqlite3 python3
expectations
database=$LAB/readings.sqlite
# What Store+Opening.swift sets.
pragmas='PRAGMA synchronous = FULL; PRAGMA cache_size = -8192; PRAGMA journal_size_limit = 16777216;'

in_sqlite() { taskset -c "$SERVER_CORE" sqlite3 -batch -bail -csv -cmd "$pragmas" "$database" "$@"; }

mkdir "$LAB/batches"
readings milliseconds | split -d -a 6 -l "$BATCH" - "$LAB/batches/"
in_sqlite "PRAGMA journal_mode = WAL; CREATE TABLE readings (
    time INTEGER NOT NULL, agent INTEGER NOT NULL, channel INTEGER NOT NULL, value REAL NOT NULL,
    PRIMARY KEY (agent, channel, time)) STRICT, WITHOUT ROWID" >/dev/null
# Each file is a transaction.
printf '.import %s readings\n' "$LAB"/batches/* >"$LAB/imports"
began=$(date +%s%N)
in_sqlite <"$LAB/imports" >/dev/null
time=$((($(date +%s%N) - began) / 1000000))
say "taken in, $BATCH readings a transaction" $((READINGS * 1000 / time)) readings/s
rm -r "$LAB/batches"
in_sqlite "PRAGMA wal_checkpoint(TRUNCATE)" >/dev/null
all_there "$(in_sqlite "SELECT count(*) FROM readings" | tail -1)"
per_reading "bytes a reading, with its index" "$(stat -c %s "$database")"

# query STATEMENT FILE: CSV, and milliseconds on standard output: of the second time, which is warm.
query() {
    printf '%s\n' ".output $2" "$1;" ".output $2" '.timer on' "$1;" | in_sqlite |
        awk '/^Run Time: real/ { printf "%.0f\n", $4 * 1000 }'
}
where="agent = $asked AND channel = 7 AND time >= ${from}000"
day() { query "SELECT time, value FROM readings WHERE $where AND time < ${day_end}000 ORDER BY time" "$LAB/day.csv"; }
chart() {
    query "SELECT (time - ${from}000) / ${width}000 AS number, avg(value), min(value), max(value) FROM readings
        WHERE $where AND time < ${end}000 GROUP BY number ORDER BY number" "$LAB/chart.csv"
}
median_of_five "$(day_name)" day
day_is_right "$LAB/day.csv"
median_of_five "$(chart_name)" chart
chart_is_right "$LAB/chart.csv"
