# A file is renamed when it is large; the renamed ones and it have every reading once, also when the collector was
# killed meanwhile.
site
collector_up "- {name: lines, json: {file: $LAB/lines.jsonl, rotate-size: 20KiB, rotate-count: 50}}"
agent_up a "sensors:
  - {driver: command, run: [/bin/echo, \"21.5\"], every: 20ms, name: bench, unit: Cel}"
all() { cat "$LAB"/lines.jsonl* | keys; }
files() { find "$LAB" -name 'lines.jsonl.*' | wc -l; }
must "it is renamed" until_true 60 eval '[ "$(files)" -ge 2 ]'
collector_down KILL
collector_again
must "again" until_true 60 eval '[ "$(files)" -ge 5 ]'
agent_down
must "all files together have what the store has, once" becomes_same 60 keys all
must "none is much larger than it may be" [ -z "$(find "$LAB" -name 'lines.jsonl*' -size +80k)" ]
