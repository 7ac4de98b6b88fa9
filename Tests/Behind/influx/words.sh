# A node gets another name and label, its channels other units and names; then all is sent again. Each reading is there
# once: what was there keeps the words that it had.
keys_there() {
    influx_says 'SELECT sequence FROM reading GROUP BY peer, run' |
        jq -r '.results[0].series[]? | .tags as $tags | .values[] | [$tags.peer, $tags.run, .[1]] | @tsv'
}
nodes_there() { influx_says 'SHOW TAG VALUES WITH KEY = node' | jq -r '[.results[0].series[0].values[][1]] | join(" ")'; }

site
influx_up
collector_up "$(influx_output)"
agent_up
must "readings" more_readings 60
collector_config "$(influx_output)" "agents:
  - node: a
    rename: shed
    labels: {floor: '2'}
    channels:
      bench: {rename: air, unit: K}"
reload
must "readings in other words" more_readings 60
# An output with another name knows nothing of what the first one wrote.
sed -i 's/name: influx,/name: again,/' "$LAB/c.yaml"
reload
must "readings of the other output" more_readings 30
agent_down
must "the server has each once" becomes_same 60 keys keys_there
must "nothing waits" until_true 60 output_is again waiting 0
must "still once" same keys keys_there
must "under the name of its time" test "$(nodes_there)" = "a shed"
must "and the unit" test "$(influx_says "SELECT count(value) FROM reading WHERE unit = 'Cel'" |
    jq '.results[0].series[0].values[0][1] > 9')" = true
must "nothing was refused" output_is again refused 0
must "no remark" test "$(said 'will be there twice')" = 0
