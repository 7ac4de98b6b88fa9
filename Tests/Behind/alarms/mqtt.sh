# An alarm is a retained message at the broker, also at one that was away when it was over; it goes with its rule.
. Tests/Behind/mqtt/library.sh
site
broker_up
value 20
home="- {name: home, mqtt: {host: 127.0.0.1}}"
rule="alarms:
  - {name: 'too warm/+#', node: 'a*', channel: t, above: 30, send: [{mqtt: true}]}"
collector_up "$home" "$rule"
agent_up a "$(VALUE_SENSOR)"
must "readings" more_readings 5
must "they reach the broker" until_true 60 retained_has "$(own_topic)/a/t" '.value == 20'
topics() { retained_topics "$(own_topic)/\$alarms/#"; }
told() { retained_has "$(topics)" "$1"; }
must "nothing is told without need" [ -z "$(topics)" ]
value 31
must "its begin is told" until_true 60 told '.alarm == "too warm/+#" and .state == "active" and .node == "a"
    and .channel == "t" and .until == null'
must "under one topic" [ "$(topics | wc -l)" = 1 ]
stop "$broker" KILL
value 20
must "it is over" until_true 60 says 'alarm too warm.*no longer above 30'
must "readings" more_readings 10
broker_again
must "its end is told when the broker is back" until_true 90 told '.state == "cleared" and .until != null'
collector_config "$home"
reload
must "without the rule it is gone" until_true 60 eval '[ -z "$(topics)" ]'
collector_config "$home" "$rule"
reload
value 32
must "with it, it begins again" until_true 60 told '.state == "active"'
other="$(own_topic)/\$alarms/other/a/t"
in_host c mosquitto_pub -r -t "$other" -m '{"collector":"another","alarm":"other"}'
collector_down
collector_config "$home"
collector_again
must "it is gone too when its rule was removed while the collector was down, and that of another collector stays" \
    until_true 60 eval '[ "$(topics)" = "$other" ]'
