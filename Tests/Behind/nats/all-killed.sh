# All servers are gone for a while, longer than they know messages again, after messages whose receipt nobody saw.
site
nats_up
collector_up "$(nats_output ", duplicates: 120s")"
agent_up
must "messages arrive" until_true 60 nats_has 20
for number in 1 2 3; do nats_down "$number" KILL; done
must "it is told" until_true 60 says "nats.*(No server available|not confirmed|Timeout|Connection)"
# The place in the store is forgotten: all readings come again.
collector_down
must "the place is forgotten" sqlite3 "$LAB/c/readings.sqlite" "DELETE FROM output_history; DELETE FROM cursors"
collector_again
sleep 125
nats_up
must "messages arrive" until_true 120 output_is nats phase current
agent_down
must "nothing is lost, nothing double" becomes_same 90 values nats_values
