# A real Prometheus scrapes /metrics: a series for each channel with hostile names intact, promtool has nothing against
# either format, and what no longer holds goes stale.
hostile='"} 1 \ <x>'
site a b
collector_up "" "web: {port: 8080}"
agent_up a
config b agent "sensors:
  - {driver: command, run: [/bin/echo, \"1013.25\"], every: 200ms, name: 'air $hostile', unit: hPa}
  - {driver: command, run: [/bin/false], every: 200ms, name: broken, unit: Cel}
labels: {site: 'north $hostile'}
report: {wait: 0s}"
agent b

metrics() { in_host c curl -sS -m 10 "$@" http://127.0.0.1:8080/metrics; }
must "channels" until_true 60 eval 'metrics | grep -q "^rivulet_air.*_pascals{"'
must "promtool has nothing to say" test -z "$(metrics | promtool check metrics 2>&1)"
open='Accept: application/openmetrics-text;version=1.0.0'
must "OpenMetrics ends as it should" test "$(metrics -H "$open" | tail -1)" = '# EOF'
must "hectopascals became pascals" test -n "$(metrics | grep '^rivulet_air.*_pascals{.*} 101325')"
must "no value, no sample" test -z "$(metrics | grep '^rivulet_broken')"

cat >"$LAB/prometheus.yml" <<'YAML'
global: {scrape_interval: 1s}
scrape_configs:
  - job_name: rivulet
    static_configs: [{targets: ['127.0.0.1:8080']}]
YAML
start prometheus c prometheus --config.file "$LAB/prometheus.yml" --storage.tsdb.path "$LAB/tsdb" \
    --web.listen-address 127.0.0.1:9090

# ask QUERY: what Prometheus says now, as JSON.
ask() { in_host c curl -sS -m 10 http://127.0.0.1:9090/api/v1/query --data-urlencode "query=$1"; }
# value QUERY: the first value; nothing if there is none.
value() { ask "$1" 2>/dev/null | jq -r '.data.result[0].value[1] // empty'; }
value_is() { [ "$(value "$1")" = "$2" ]; }

must "it is up" until_true 60 value_is 'up{job="rivulet"}' 1
must "a channel's value" until_true 60 value_is 'rivulet_bench_celsius{node="a"}' 21.5
name=$(ask '{__name__=~"rivulet_air.*_pascals"}' | jq -r '.data.result[0].metric | [.channel, .label_site] | join("|")')
must "hostile names as they are: $name" test "$name" = "air $hostile|north $hostile"
must "the collector's own counters" until_true 60 eval '[ "$(value "rivulet_collector_readings_total")" -gt 10 ]'
must "the mesh's" until_true 60 value_is 'rivulet_mesh_node_online{node="a"}' 1
must "counters count" until_true 60 eval '[ "$(value "increase(rivulet_mesh_node_readings_total{node=\"a\"}[10s])" | cut -d. -f1)" -gt 0 ]'
agent_down a
must "a silent node's series is stale" until_true 60 eval '[ -z "$(value "rivulet_bench_celsius{node=\"a\"}")" ]'
must "and it is told" until_true 60 value_is 'rivulet_mesh_node_online{node="a"}' 0
