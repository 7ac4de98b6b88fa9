# A board restarts, and its sensor takes a while for the first value: an alarm that is active stays so, and nobody is told.
site
value 31
cat >"$LAB/slow" <<SH
#!/bin/sh
sleep 1
cat "$LAB/value"
SH
chmod +x "$LAB/slow"
alarms_config "- {name: warm, above: 30, send: [{command: {run: [/bin/sh, -c, 'echo \$RIVULET_ALARM_STATE >>$LAB/told']}}]}"
collector_again
slow="sensors:
  - {driver: command, run: [$LAB/slow], every: 2s, name: t, unit: Cel}"
agent_up a "$slow"
must "it is told" until_true 60 grep -qx active "$LAB/told"
for signal in TERM KILL TERM; do
    before=$(readings)
    stop "$agent_a" "$signal"
    agent_up a "$slow"
    must "readings of the next run" until_true 60 has_readings $((before + 3))
done
must "nothing is told meanwhile" [ "$(cat "$LAB/told")" = active ]
must "and nothing logged" eval '! says "no longer above"'
value 1
must "a value ends it" until_true 60 eval '[ "$(cat "$LAB/told")" = "active
cleared" ]'
must "it is shown as ended" until_true 30 shown 'warm +ended'
collector_down
collector_again
must "after a restart of the collector, too" until_true 30 shown 'warm +ended'
