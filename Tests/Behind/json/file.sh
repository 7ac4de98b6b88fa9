# Everything that the store has comes to the file, once, with exact values.
site
collector_up "- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up
must "readings" more_readings 40
agent_down
must "the file has what the store has" becomes_same 60 keys eval 'keys <"$LAB/lines.jsonl"'
must "with the same values" becomes_same 30 values eval 'values <"$LAB/lines.jsonl"'
must "nothing waits" until_true 30 output_is lines waiting 0
must "its phase is told" output_is lines phase current
