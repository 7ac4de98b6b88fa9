# Every reading is a sample, once, at its time, although either side is killed in the middle.
site
prometheus_up "$ANY_ORDER" --web.enable-remote-write-receiver
collector_up "$(write_output)"
agent_up a "sensors:
  - {driver: command, run: [/bin/sh, $LAB/count_a.sh], every: 200ms, name: count}
  - {driver: command, run: [/bin/false], every: 1s, name: broken, unit: Cel}
  - {driver: command, run: [/bin/echo, '-21.50'], every: 200ms, name: bench, unit: Cel}" 'labels: {site: north}'
must "readings" more_readings 40
prometheus_down KILL
must "readings while the server is away" more_readings 40
must "the fault stands in the status" until_true 60 output_is prom phase failing
prometheus_up "$ANY_ORDER" --web.enable-remote-write-receiver
must "they are delivered" until_true 90 output_is prom phase current
collector_down KILL
collector_again
must "readings after the collector was killed" more_readings 40
agent_down
must "the server has what the store has" becomes_same 90 as_samples samples
must "names and labels" test "$(prometheus_says \
    'count(last_over_time(rivulet_bench_celsius{node="a",channel="bench",label_site="north"}[1h]))' |
    jq -r '.[0].value[1]')" = 1
must "a null ends its series" test "$(prometheus_says 'rivulet_broken_celsius')" = '[]'
