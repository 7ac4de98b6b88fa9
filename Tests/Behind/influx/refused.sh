# Points that the server will never take are counted and passed by; the others arrive.
site
influx_up
influx_says 'CREATE DATABASE rivulet' >/dev/null
in_host c curl -s -m 5 'http://127.0.0.1:8086/write?db=rivulet' --data-binary 'reading value="text"'
collector_up "$(influx_output)"
agent_up
must "refusals are counted" until_true 60 output_at_least influx refused 20
must "and told" until_true 30 says "influx.*field type conflict"
must "nothing waits for ever" until_true 60 output_is influx phase current
