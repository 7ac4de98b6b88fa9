# A command that is not there costs nothing but patience: readings wait in the store, over restarts of the collector,
# and come when it is there.
site
collector_up "- {name: late, json: {command: [$LAB/late.sh]}}"
agent_up
must "it fails" until_true 60 output_is late phase failing
must "and says why, once" until_true 30 says_once "output late: .*cannot be started: No such file"
must "readings" more_readings 30
collector_down
collector_again
must "they wait" until_true 60 output_at_least late waiting 30
must "their age is known" output_at_least late lagSeconds 1
told() { "$BIN/rivulet" status --socket "$LAB/c.sock" | grep 'output  *late .*failing.* waiting' >/dev/null; }
must "people are told" until_true 30 told
printf '#!/bin/sh\nexec cat >>%s\n' "$LAB/late.jsonl" >"$LAB/late.sh.new"
chmod +x "$LAB/late.sh.new"
mv "$LAB/late.sh.new" "$LAB/late.sh"
must "it works" until_true 120 output_is late phase current
agent_down
must "it has everything" becomes_same 60 keys eval 'keys <"$LAB/late.jsonl"'
