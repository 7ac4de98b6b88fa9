# Sourced by the cases: a Prometheus in the collector's namespace, and what it has.
. Tests/Behind/certificates.sh

# prometheus_up [CONFIGURATION [OPTION…]]: starts it with what is below $LAB/prometheus, and waits until it answers.
prometheus_up() {
    printf 'global: {scrape_interval: 1s}\n%s\n' "${1:-}" >"$LAB/prometheus.yml"
    start prometheus c prometheus --config.file="$LAB/prometheus.yml" --storage.tsdb.path="$LAB/prometheus" \
        --web.listen-address=127.0.0.1:9090 "${@:2}"
    until_true 60 prometheus_answers || fail "prometheus does not start"
}

PROMETHEUS=http://127.0.0.1:9090
prometheus_answers() { in_host c curl -sfk ${PROMETHEUS_LOGIN:+-u "$PROMETHEUS_LOGIN"} -m 2 "$PROMETHEUS/-/ready" >/dev/null; }

# prometheus_down [SIGNAL]
prometheus_down() { stop "$prometheus" "${1:-TERM}"; }

# prometheus_says QUERY: the answer's result, JSON.
prometheus_says() {
    in_host c curl -sk -m 10 ${PROMETHEUS_LOGIN:+-u "$PROMETHEUS_LOGIN"} -G "$PROMETHEUS/api/v1/query" \
        --data-urlencode "query=$1" | jq -c .data.result
}

# The window within which Prometheus takes samples that are older than others.
ANY_ORDER='storage: {tsdb: {out_of_order_time_window: 1h}}'

# samples: every sample of the last hour, as `peer channel milliseconds value`.
samples() {
    prometheus_says '{peer!="",__name__=~"rivulet_.*"}[1h]' | jq -r '.[] | .metric as $of | .values[] |
        [$of.peer, $of.channel, (.[0] * 1000 | round), (.[1] | tonumber)] | @tsv'
}

# as_samples: readings of `stored`, the same way; nulls are ends of series, which no query shows.
as_samples() {
    jq -r 'select(.value != null) | [.peer, .channel,
        ((.time[0:19] + "Z" | fromdate) * 1000 + ((.time | capture("\\.(?<part>[0-9]+)Z").part // "0") | tonumber)),
        .value] | @tsv' | LC_ALL=C sort
}

# write_output [MORE]: a collector's output to it, called `prom`.
write_output() { echo "- {name: prom, history: true, prometheus: {url: '$PROMETHEUS/api/v1/write'${1:-}}}"; }
