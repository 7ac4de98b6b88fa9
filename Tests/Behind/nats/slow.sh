# A server that hangs delays only this output; what it had taken without saying so is not doubled.
site
nats_up
collector_up "$(nats_output)
- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up
must "messages arrive" until_true 60 nats_has 20
kill -STOP "$nats1" "$nats2" "$nats3"
must "it is told" until_true 60 says "nats.*(not confirmed|Timeout|no server)"
before=$(wc -l <"$LAB/lines.jsonl")
must "readings go on" more_readings 40
must "the other output goes on" until_true 60 eval '[ "$(wc -l <"$LAB/lines.jsonl")" -gt '"$((before + 20))"' ]'
kill -CONT "$nats1" "$nats2" "$nats3"
must "then they arrive" until_true 90 output_is nats phase current
agent_down
must "nothing is lost, nothing double" becomes_same 90 values nats_values
