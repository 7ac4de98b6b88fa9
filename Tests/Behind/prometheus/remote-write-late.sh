# What comes too late for a server that wants samples in order is counted and passed by; new ones arrive.
site
prometheus_up '' --web.enable-remote-write-receiver
collector_up "$(write_output)"
agent_up
must "readings arrive" until_true 60 output_at_least prom delivered 40
ip -n "$NS-a" link set eth1 down
sleep 4
collector_down
collector_again
ip -n "$NS-a" link set eth1 up
must "phase" until_true 60 output_is prom phase current
must "readings go on" more_readings 60
must "nothing is stuck" until_true 90 output_is prom waiting 0
newest() { prometheus_says 'max_over_time(rivulet_counts[1h])' | jq -r '.[0].value[1]'; }
before=$(newest)
must "new samples arrive" until_true 60 eval '[ "$(newest)" -gt "$before" ]'
