# A reload with other settings: nothing is lost, and what was is cleared by nobody but its owner.
site
broker_up
watch "$LAB/seen" -t 'rivulet/lab/a/+' -t 'site/two/lab/a/+'
collector_up "- {name: home, mqtt: {host: 127.0.0.1}}"
agent_up
must "readings" more_readings 30
collector_config "- {name: home, mqtt: {host: 127.0.0.1, prefix: site/two}}"
reload
must "the new topics" until_true 60 retained_has site/two/lab/a/count '.value > 1'
must "more readings" more_readings 20
collector_config "- {name: home, mqtt: {host: 127.0.0.1, prefix: site/two, payload: value, retain: false}}"
reload
must "bare values" until_true 60 eval 'tail -n 3 "$LAB/seen" | grep -qxE "[0-9.]+"'
agent_down
must "nothing waits" until_true 60 output_is home waiting 0
collector_config "- {name: home, mqtt: {host: 127.0.0.1, prefix: a/+}}"
reload
must "a mistake changes nothing" until_true 60 says "prefix must not hold"
must "the output still runs" until_true 30 output_is home phase current
