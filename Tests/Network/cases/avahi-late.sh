# No D-Bus and no daemon when the nodes start; both come later, one after the other.
. Tests/Network/avahi.sh
host c a
lan 1 c a
config c collector "$ALONE"
config a agent "$ALONE
$SENSOR"
collect c
agent a
must "the agent says that there is no daemon" until_true 30 grep -q "avahi: no daemon; trying again" "$LAB/agent_a.err"
must "so does its status" until_true 30 says a 'no daemon; trying again$'
must "no collector" [ -z "$(member a collector | grep -v null)" ]
bus c
bus a
sleep 5
must "still none with D-Bus alone" says a 'no daemon; trying again$'
avahi c
avahi a
must "the agent has a collector" until_true 40 connected a
must "readings in the table" until_true 30 has_rows c a
must "it is told once that there was no daemon" [ "$(grep -c "no daemon" "$LAB/agent_a.err")" = 1 ]
