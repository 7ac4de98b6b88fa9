# Each reading is there once, with its exact value, although either side is killed in the middle; nulls too.
site
influx_up
collector_up "$(influx_output)"
agent_up a "sensors:
  - {driver: command, run: [/bin/sh, $LAB/count_a.sh], every: 100ms, name: count}
  - {driver: command, run: [/bin/false], every: 500ms, name: broken, unit: Cel}
  - {driver: command, run: [/bin/echo, '-21.50'], every: 200ms, name: bench, unit: Cel}"
must "readings" more_readings 40
influx_down KILL
must "readings while the server is away" more_readings 40
must "the fault stands in the status" until_true 60 output_is influx phase failing
influx_up
must "they are delivered" until_true 60 output_is influx phase current
collector_down KILL
collector_again
must "readings after the collector was killed" more_readings 40
agent_down
must "the server has what the store has" becomes_same 90 values influx_values
must "nulls have their reason" test "$(influx_says 'SELECT count(reason) FROM reading' |
    jq '.results[0].series[0].values[0][1] > 0')" = true
must "nothing was refused" output_is influx refused 0
