#!/usr/bin/env bash
# influx.sh READINGS AGENTS [influx|influx-integers|influx-tags]: InfluxDB 1.6 of Debian 12 with the data of
# store-bench, as a peer of our store. Prints, a line each, `name: value unit`: readings a second that it takes in on
# one processor, from four connections and prepared files; bytes a reading once all is compacted; one channel over a day
# as CSV; a chart of everything; its memory after that. As root. Started by run.sh --peers.
#
# A point has the twenty channels as fields: it takes in twice as much a second of its processor as where each reading
# is a point with its channel as a tag (influx-tags), for the same bytes and queries. Values are numbers as sensors
# give them, and exact; who can choose whole numbers needs a quarter of the bytes (influx-integers).
set -euo pipefail
cd "$(dirname "$0")/../.."
. Benchmarks/Peers/store_peer.sh
trap lab_down EXIT
packages influxdb curl python3
form=${3:-influx}
expectations
field='"channel7"' where="agent = '$asked'"
[ "$form" != influx-integers ] || SCALE=1
if [ "$form" = influx-tags ]; then field=value where+=" AND channel = '7'"; fi
at=http://127.0.0.1:8086

# Files that nobody writes to any more become one after hours; here after seconds. All else is as it comes.
influx_up() {
    cat >"$LAB/influx.conf" <<TOML
reporting-disabled = true
bind-address = "127.0.0.1:8088"
[meta]
  dir = "$LAB/influx/meta"
[data]
  dir = "$LAB/influx/data"
  wal-dir = "$LAB/influx/wal"
  query-log-enabled = false
  cache-snapshot-write-cold-duration = "5s"
  compact-full-write-cold-duration = "5s"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:8086"
  log-enabled = false
TOML
    start server c taskset -c "$SERVER_CORE" influxd -config "$LAB/influx.conf"
    until_true 120 in_host c curl -sf -m 2 "$at/ping" || die "influxd does not start: $(tail -3 "$LAB/server.err")"
}

# query STATEMENT FILE: CSV, and milliseconds on standard output.
query() {
    in_host c taskset -c "$FEEDER_CORE" curl -sSf -G "$at/query" -H 'Accept: application/csv' --data-urlencode "q=$1" \
        --data-urlencode db=bench -o "$2" -w '%{time_total}\n' | awk '{ printf "%.1f\n", $1 * 1000 }'
    sed -i 1d "$2"
}

# send CLIENT: its share of the requests, one after the other on one connection; each is answered once it is on disk.
send() {
    local bodies
    bodies="$LAB/batches/[$(printf '%06d' "$1")-$last:$CLIENTS]"
    in_host c taskset -c "$FEEDER_CORE" curl -sSf --fail-early -X POST -T "$bodies" -H 'Expect:' \
        -w '%{http_code}\n' "$at/write?db=bench&precision=s" >"$LAB/answers.$1"
    ! grep -qv '^204$' "$LAB/answers.$1"
}

mkdir "$LAB/batches"
lines=$BATCH
[ "$form" = influx-tags ] || lines=$((BATCH / 20))
readings "$form" | split -d -a 6 -l "$lines" - "$LAB/batches/"
last=$(printf '%s\n' "$LAB"/batches/* | tail -1)
last=${last##*/}
batches=$((10#$last + 1))
((CLIENTS <= batches)) || CLIENTS=$batches

host c
influx_up
in_host c curl -sSf -X POST "$at/query" --data-urlencode 'q=CREATE DATABASE bench' >/dev/null
taken "taken in, $BATCH readings a request" fed send
[ "$(cat "$LAB"/answers.* | wc -l)" = "$batches" ] || die "not all requests were answered"
say "the server, most resident meanwhile" "$(awk '/^VmHWM/ { print $2 }' "/proc/$server/status")" kB
rm -r "$LAB/batches"
query 'SELECT count(*) FROM readings' "$LAB/count.csv" >/dev/null
all_there "$(cut -d , -f 4- "$LAB/count.csv" | tr , '\n' | awk '{ sum += $1 } END { print sum }')"

# Once nothing is logged that is not in data files, and of each shard there is one generation (the first number in a
# file's name), influxd finds nothing more to compact.
compacted() {
    local shard
    [ -z "$(find "$LAB/influx/wal" -name '*.wal' -size +0)" ] || return 1
    [ -z "$(find "$LAB/influx/data" -name '*.tmp')" ] || return 1
    for shard in "$LAB"/influx/data/bench/autogen/*/; do
        [ "$(find "$shard" -name '*.tsm' -printf '%f\n' | cut -d - -f 1 | sort -u | wc -l)" = 1 ] || return 1
    done
}
POLL=1 until_true 300 compacted || die "influxd does not compact: $(find "$LAB/influx" -name '*.[tw]??' -printf '%f ')"
# What was compacted is deleted a little later.
sleep 2
per_reading "bytes a reading, compacted, all that is on disk" "$(du -s -B1 "$LAB/influx" | cut -f 1)"
per_reading "bytes a reading, compacted, the data files" \
    "$(find "$LAB/influx/data" -name '*.tsm' -printf '%s\n' | awk '{ sum += $1 } END { print sum }')"

between() { echo "time >= ${1}s AND time < ${2}s"; }
day() { query "SELECT $field FROM readings WHERE $where AND $(between "$from" "$day_end")" "$LAB/day.csv"; }
chart() {
    query "SELECT mean($field), min($field), max($field) FROM readings WHERE $where AND $(between "$from" "$end")
        GROUP BY time(${width}s, $((from % width))s)" "$LAB/chart.csv"
}
median_of_five "$(day_name)" day
day_is_right "$LAB/day.csv"
median_of_five "$(chart_name)" chart
chart_is_right "$LAB/chart.csv"
server_memory
