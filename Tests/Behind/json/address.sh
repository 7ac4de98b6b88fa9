# An output without a name goes on where it was when its address changes: while the collector runs, and between two runs.
site
collector_up "- {json: {file: $LAB/one.jsonl}}"
agent_up
must "all have readings" until_true 60 output_at_least "json $LAB/one.jsonl" delivered 20
collector_config "- {json: {file: $LAB/two.jsonl}}"
reload
must "it says so" until_true 30 says "output json $LAB/one.jsonl is json $LAB/two.jsonl now, and continues where it was"
must "and goes on" more_readings 20
collector_down
collector_config "- {json: {file: $LAB/three.jsonl}}"
collector_again
must "it says so after a restart" until_true 30 says "output json $LAB/two.jsonl is json $LAB/three.jsonl now"
must "and goes on then" more_readings 20
collector_down
collector_config "- {name: lines, json: {file: $LAB/three.jsonl}}"
collector_again
must "a name changes nothing" until_true 30 says "output json $LAB/three.jsonl is lines now"
must "and goes on with it" more_readings 20
agent_down
must "nothing is missing, and nothing there twice" becomes_same 60 keys \
    eval 'cat "$LAB/one.jsonl" "$LAB/two.jsonl" "$LAB/three.jsonl" | keys'
