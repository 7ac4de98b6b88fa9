# A broker that stops in its tracks delays nobody but its own output, which goes on when it does.
site
broker_up
watch "$LAB/seen" -t 'rivulet/lab/a/+'
collector_up "- {name: home, mqtt: {host: 127.0.0.1}}
- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up
must "readings" more_readings 20
kill -STOP "$broker"
must "it is told that nothing answers" until_true 60 says "home.*no answer from the broker"
must "the store goes on" more_readings 40
must "and the other output too" until_true 30 output_is lines phase current
kill -CONT "$broker"
must "the output recovers" until_true 90 output_is home phase current
agent_down
must "every reading was published" becomes_same 60 keys published "$LAB/seen"
kill -STOP "$broker"
started=$(date +%s)
collector_down
must "a silent broker does not hold up the collector's end" test $(($(date +%s) - started)) -lt 20
kill -CONT "$broker"
