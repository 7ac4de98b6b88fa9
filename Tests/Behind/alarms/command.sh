# A program is run with the alarm in its environment, whatever the names; one that hangs is killed, with its children.
site
value 20
cat >"$LAB/program" <<SH
#!/bin/sh
printf '%s|%s|%s|%s\n' "\$RIVULET_ALARM_NAME" "\$RIVULET_ALARM_STATE" "\$RIVULET_ALARM_NODE" "\$1" >>"$LAB/told"
SH
cat >"$LAB/hanging" <<SH
#!/bin/sh
sleep 3600 &
echo \$! >>"$LAB/hanging.pids"
wait
SH
chmod +x "$LAB/program" "$LAB/hanging"
alarms_config "- {name: warm, above: 30, send: [{command: {run: [$LAB/program, \"two words; \$HOME\"]}}]}
- {name: hangs, above: 30, send: [{command: {run: [$LAB/hanging], time-limit: 1s}}]}"
collector_again
config a agent "$(VALUE_SENSOR)
report: {wait: 0s}"
sed -i "s/^name: a\$/name: '\$(reboot);\"x'/" "$LAB/a.yaml"
agent a
value 31
must "it is run" until_true 60 test -s "$LAB/told"
must "with what it is about" grep -qxF 'warm|active|$(reboot);"x|two words; $HOME' "$LAB/told"
must "one that hangs is killed" until_true 60 says "alarms: .*hanging did not end within 1000 ms"
# A zombie is dead.
must "with its children" until_true 30 eval '! grep -q "^State:.[RSD]" "/proc/$(head -n 1 "$LAB/hanging.pids")/status" 2>/dev/null'
value 1
must "the other is told all the same" until_true 60 grep -q 'warm|cleared' "$LAB/told"
must "once each" test "$(wc -l <"$LAB/told")" = 2
