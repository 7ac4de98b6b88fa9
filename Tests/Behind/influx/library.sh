# Sourced by the cases: an InfluxDB 1.x in the collector's namespace, and what it has.
. Tests/Behind/certificates.sh

# influx_config [HTTP_LINES]: its configuration; data below $LAB/influx.
influx_config() {
    mkdir -p "$LAB/influx"
    cat >"$LAB/influx.conf" <<TOML
reporting-disabled = true
bind-address = "127.0.0.1:8088"
[meta]
  dir = "$LAB/influx/meta"
[data]
  dir = "$LAB/influx/data"
  wal-dir = "$LAB/influx/wal"
[monitor]
  store-enabled = false
[http]
  bind-address = "127.0.0.1:8086"
${1:-}
TOML
}

# influx_up: starts it, and waits until it answers.
influx_up() {
    [ -e "$LAB/influx.conf" ] || influx_config
    start influx c influxd -config "$LAB/influx.conf"
    until_true 60 influx_answers || fail "influxd does not start"
}

influx_answers() { in_host c curl -sfk -m 2 "${INFLUX:-http://127.0.0.1:8086}/ping" >/dev/null; }

# influx_down [SIGNAL]
influx_down() { stop "$influx" "${1:-TERM}"; }

# influx_says STATEMENT [DATABASE]: the answer, JSON.
influx_says() {
    in_host c curl -sk -m 10 -G ${INFLUX_LOGIN:+-u "$INFLUX_LOGIN"} "${INFLUX:-http://127.0.0.1:8086}/query" \
        --data-urlencode "q=$1" --data-urlencode "db=${2:-rivulet}" --data-urlencode epoch=ns
}

# influx_values [MEASUREMENT]: every point, as `values` has readings; nulls without a value.
influx_values() {
    influx_says "SELECT value, sequence FROM \"${1:-reading}\" GROUP BY peer, run, channel" |
        jq -r '.results[0].series[]? | .tags as $tags | .values[] |
            [$tags.peer, $tags.run, .[2], $tags.channel, .[1]] | @tsv'
}

# influx_output [LINES]: a collector with one output to it, called `influx`.
influx_output() { echo "- {name: influx, influx: {url: '${INFLUX:-http://127.0.0.1:8086}', database: rivulet${1:-}}}"; }
