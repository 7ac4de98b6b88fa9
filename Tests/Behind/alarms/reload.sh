# SIGHUP takes up other alarms; one that holds goes on and is not told again.
site
value 31
alarms_config "- {name: warm, above: 30, send: [{command: {run: [/bin/sh, -c, 'echo \$RIVULET_ALARM_STATE >>$LAB/told']}}]}"
collector_again
agent_up a "$(VALUE_SENSOR)"
must "it is told" until_true 60 grep -qx active "$LAB/told"
alarms_config "- {name: hot, above: 31}
- {name: warm, above: 30, send: [{command: {run: [/bin/sh, -c, 'echo \$RIVULET_ALARM_STATE >>$LAB/told']}}]}"
reload
must "it is taken up" until_true 30 says "outputs, alarms.*reloaded"
value 32
must "the new one begins" until_true 60 says "alarm hot: t of a is above 31 °C"
value 1
must "both end" until_true 60 eval 'says "alarm hot: t of a is no longer" && says "alarm warm: t of a is no longer"'
must "told once each" until_true 30 eval '[ "$(cat "$LAB/told")" = "active
cleared" ]'
