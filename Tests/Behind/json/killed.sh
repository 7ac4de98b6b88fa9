# The collector is killed again and again, also in the middle of a batch: the file has every reading, none twice, and
# no half line.
site
collector_up "- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up a "sensors:
  - {driver: command, run: [/bin/echo, \"21.5\"], every: 20ms, name: bench, unit: Cel}"
for delay in 0.31 1.7 0.9 2.3 0.5; do
    must "readings" more_readings 20
    sleep "$delay"
    collector_down KILL
    # What a crash in the middle of a line leaves.
    [ "$delay" != 0.9 ] || printf '{"time":"2026-' >>"$LAB/lines.jsonl"
    collector_again
done
must "readings after the last" more_readings 20
agent_down
must "the file has what the store has, once" becomes_same 60 keys eval 'keys <"$LAB/lines.jsonl"'
must "with the same values" becomes_same 30 values eval 'values <"$LAB/lines.jsonl"'
must "every line is whole" jq -e . "$LAB/lines.jsonl" >"$LAB/whole"
