# A broker that is killed, and away for a while: what was measured meanwhile comes when it is back.
site
broker_up
watch "$LAB/seen" -t 'rivulet/lab/a/+'
collector_up "- {name: home, mqtt: {host: 127.0.0.1}}"
agent_up
must "readings" more_readings 20
for round in 1 2; do
    stop "$broker" KILL
    must "the fault is told" until_true 60 output_is home phase failing
    must "the store goes on" more_readings 30
    broker_again
    must "the output recovers ($round)" until_true 90 output_is home phase current
    must "more readings" more_readings 20
done
must "each fault is logged once" test "$(said 'home.*(connection|refused)')" -le 4
agent_down
must "nothing waits" until_true 60 output_is home waiting 0
must "every reading was published" becomes_same 60 keys published "$LAB/seen"
must "the broker keeps the newest" until_true 30 is_newest count
