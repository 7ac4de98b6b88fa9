# Names that try to be something else arrive as they are, and every line is JSON.
site
printf 'time,"a\\b",c {d},<b>x</b>,%s\n' "'; DROP TABLE readings; --" >"$LAB/hostile.csv"
for n in $(seq 0 200); do echo "$n,$n.1,$n.2,$n.3,$n.4"; done >>"$LAB/hostile.csv"
collector_up "- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up a "sensors: [{driver: replay, file: $LAB/hostile.csv, speed: 1000, every: 200ms}]" \
    'labels: {"<script>": "\"},{\"peer\":\"x\""}'
must "readings" more_readings 20
agent_down
must "the file has what the store has" becomes_same 60 values eval 'values <"$LAB/lines.jsonl"'
must "names are whole" grep -q 'DROP TABLE' "$LAB/lines.jsonl"
must "labels are whole" jq -e 'select(.labels["<script>"] == "\"},{\"peer\":\"x\"")' "$LAB/lines.jsonl" >"$LAB/found"
