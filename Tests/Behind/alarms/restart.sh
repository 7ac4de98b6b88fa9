# Two targets, of which one hangs: what the other was told outlasts a kill, and what waits for the first is sent in order.
site
value 20
cat >"$LAB/program" <<SH
#!/bin/sh
echo "\$RIVULET_ALARM_NAME \$RIVULET_ALARM_STATE \$RIVULET_ALARM_CHANNEL" >>"$LAB/told"
SH
chmod +x "$LAB/program"
: >"$LAB/told"
told() { tr '\n' ',' <"$LAB/told"; }
told_is() { [ "$(told)" = "$1" ]; }
bodies() { jq -r '[.alarm, .state, .channel] | join(" ")' "$LAB/hook.body" 2>/dev/null | tr '\n' ','; }
bodies_are() { [ "$(bodies)" = "$1" ]; }
alarms() {
    alarms_config "- name: hot
  channel: $1
  above: 25
  send: [{command: {run: [$LAB/program]}}, {webhook: {url: 'http://127.0.0.1:8099/hook', timeout: 1s}}]"
}
start hanging c python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 8099)); time.sleep(600)'
alarms t
collector_again
agent_up a "$(VALUE_SENSOR)"
value 30
must "the one is told" until_true 60 told_is "hot active t,"
must "the other is tried" until_true 60 says "alarms: 127.0.0.1:8099"
must "it stands on the disk" until_true 30 grep -q '^waiting	webhook' "$LAB/c/alarms"
collector_down KILL
value 20
collector_again
must "after a kill the one is told of the end, and of nothing twice" until_true 60 told_is "hot active t,hot cleared t,"
collector_down
stop "$hanging" KILL
start hook c python3 Tests/Behind/http_server.py 8099 take "$LAB/hook"
collector_again
must "the other gets all of it, in order" until_true 60 bodies_are "hot active t,hot cleared t,"

# The rule is about something else now: whoever was told of the beginning is told of the end.
value 30
must "it begins again" until_true 60 told_is "hot active t,hot cleared t,hot active t,"
alarms u
reload
must "the end of what no rule is about is told" until_true 60 told_is "hot active t,hot cleared t,hot active t,hot cleared t,"
must "to both" until_true 60 bodies_are "hot active t,hot cleared t,hot active t,hot cleared t,"
must "and nothing is active" eval '! shown "hot +ACTIVE"'
alarms t
reload
must "it begins once more" until_true 60 eval '[ "$(tail -n 1 "$LAB/told")" = "hot active t" ]'
collector_config
reload
must "who is configured no more is told of the end, too" until_true 60 eval '[ "$(tail -n 1 "$LAB/told")" = "hot cleared t" ]'
