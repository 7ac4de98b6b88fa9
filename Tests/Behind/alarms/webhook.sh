# An alarm is sent once when it begins and once when it is over; a server that was away gets it afterwards.
site
value 20
start hook c python3 Tests/Behind/http_server.py 8099 take "$LAB/hook"
alarms_config "- name: warm
  node: 'a*'
  channel: t
  above: 30
  hysteresis: 2
  send: [{webhook: {url: 'http://127.0.0.1:8099/alarm?key=1'}}]"
collector_again
agent_up a "$(VALUE_SENSOR)"
bodies() { jq -r '[.alarm, .state, .node, .channel, .condition, .value] | @tsv' "$LAB/hook.body" 2>/dev/null; }
lines() { bodies | wc -l; }
must "readings" more_readings 5
must "nothing is told without need" test "$(lines)" = 0
value 31.5
must "its begin is told" until_true 60 eval '[ "$(lines)" = 1 ]'
must "it is shown" until_true 30 shown 'warm.*above 30 °C'
value 29
must "readings" more_readings 10
value 32
must "readings" more_readings 10
must "around the limit it is told once" test "$(bodies)" = "warm	active	a	t	above 30 °C	31.5 °C"
collector_down
collector_again
must "readings" more_readings 10
must "a restart tells nothing again" test "$(lines)" = 1
stop "$hook" KILL
value 25
must "that nobody takes it is logged" until_true 60 says "alarms: 127.0.0.1:8099"
must "readings" more_readings 20
start hook c python3 Tests/Behind/http_server.py 8099 take "$LAB/hook"
must "its end is told" until_true 60 eval '[ "$(bodies | tail -n 1)" = "warm	cleared	a	t	above 30 °C	25 °C" ]'
must "once" test "$(lines)" = 2
must "the fault was logged once" says_once "alarms: 127.0.0.1:8099: Connection refused"
