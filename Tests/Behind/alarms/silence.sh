# A node that is out of reach for a while, also while the collector is not running; late readings tell nothing.
site
value 20
alarms_config "- {name: gone, silent: 5s, send: [{command: {run: [/bin/sh, -c, 'echo \$RIVULET_ALARM_STATE >>$LAB/told']}}]}
- {name: warm, above: 30}"
collector_again
agent_up a "$(VALUE_SENSOR)"
must "readings" more_readings 10
ip -n "$NS-a" link set eth1 down
must "its silence is told" until_true 60 grep -qx active "$LAB/told"
value 99
sleep 3
value 20
sleep 62
ip -n "$NS-a" link set eth1 up
must "and that it is back" until_true 90 grep -qx cleared "$LAB/told"
must "what came late fired nothing" eval '! says "alarm warm"'
must "each once" test "$(wc -l <"$LAB/told")" = 2
collector_down
agent_down
collector_again
must "a node that does not come back after a restart" until_true 60 eval '[ "$(wc -l <"$LAB/told")" = 3 ]'
