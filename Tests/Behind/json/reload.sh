# Outputs are added, changed and removed while the collector runs: nothing is lost, and what did not change is not
# disturbed.
site
take() {
    cat >"$LAB/$1.sh" <<SH
#!/bin/bash
echo \$\$ >>"$LAB/$1.started"
exec cat >>"$LAB/$1.jsonl"
SH
    chmod +x "$LAB/$1.sh"
    echo "- {name: $1, json: {command: [$LAB/$1.sh]}}"
}
stays=$(take stays)
collector_up "$stays
- {name: moves, json: {file: $LAB/one.jsonl}}
- {name: goes, json: {file: $LAB/goes.jsonl}}"
agent_up
must "all have readings" until_true 60 output_at_least goes delivered 10
before=$(readings)
collector_config "$stays
- {name: moves, json: {file: $LAB/two.jsonl}}
- {name: new, history: true, json: {file: $LAB/new.jsonl}}"
reload
must "it says so" until_true 30 says "outputs.*reloaded"
must "one is given up" until_true 30 says "output goes is no longer configured"
must "the new one has readings" until_true 60 output_at_least new delivered $((before + 10))
must "its cursor is gone" until_true 30 eval '[ "$(sql c "SELECT group_concat(name) FROM cursors")" = moves,new,stays ]'
# A mistake changes nothing.
cp "$LAB/c.yaml" "$LAB/good.yaml"
echo 'outputs: [{name: broken}]' >>"$LAB/c.yaml"
reload
must "a mistake is told" until_true 30 says "not applied"
cp "$LAB/good.yaml" "$LAB/c.yaml"
must "and they go on" until_true 60 output_at_least new delivered $(($(output new delivered) + 10))
agent_down
must "what stays has everything" becomes_same 60 keys eval 'keys <"$LAB/stays.jsonl"'
must "what was moved has everything in two files" becomes_same 60 keys eval 'cat "$LAB/one.jsonl" "$LAB/two.jsonl" | keys'
must "the new one has everything, history and news" becomes_same 60 keys eval 'keys <"$LAB/new.jsonl"'
must "what stays was started once" [ "$(wc -l <"$LAB/stays.started")" = 1 ]
