# An alarm of a node whose name and label would be commands, markup and wildcards, at servers that answer
# nonsense: each is told once, holds up nobody, and in the end the name arrives as it is and has done nothing.
site
value 20
misbehave() {
    [ -z "${server:-}" ] || stop "$server" KILL
    start server c python3 Tests/Behind/http_server.py 8099 "$1" "$LAB/hook" ${2:-}
}
misbehave garbage
alarms_config "- name: 'warm \$(touch $LAB/harm) <b>\"'
  channel: t
  above: 30
  send:
    - webhook: {url: 'http://127.0.0.1:8099/alarm', timeout: 2s}
    - command: {run: [/bin/sh, -c, 'printf \"%s|\" \"\$RIVULET_ALARM_NODE\" \"\$RIVULET_ALARM_NAME\" >>$LAB/told']}"
"$BIN/rivulet" check "$LAB/c.yaml" >"$LAB/check" 2>&1 || sed -i 's/, timeout: 2s//' "$LAB/c.yaml"
collector_again
agent_config a "$(VALUE_SENSOR)" "labels: {k: \"\$(touch $LAB/harm)<b>\"}"
name="\`touch $LAB/harm\`; \"<i>'\\| x/+#"
jq -rn --arg name "$name" '"name: \($name | tojson)"' >"$LAB/name"
sed -i "/^name: a\$/{
r $LAB/name
d
}" "$LAB/a.yaml"
"$BIN/rivulet" check "$LAB/a.yaml" >"$LAB/check" 2>&1 || fail "the name is refused: $(cat "$LAB/check")"
agent a
must "readings" more_readings 5
value 31
must "the command is told" until_true 60 test -s "$LAB/told"
must "nonsense is told" until_true 60 says "8099.*does not speak HTTP"
misbehave slow
must "readings go on" more_readings 20
misbehave endless
must "readings go on" more_readings 20
misbehave redirect http://127.0.0.1:8098/
sleep 5
misbehave take
must "then it arrives" until_true 90 test -s "$LAB/hook.body"
must "the webhook has the name as it is" [ "$(jq -r .node "$LAB/hook.body" | head -n 1)" = "$name" ]
must "so has the command" grep -qF -- "$name|warm \$(touch" "$LAB/told"
must "once" [ "$(grep -o 'warm ' "$LAB/told" | wc -l)" = 1 ]
must "and it has done nothing" test ! -e "$LAB/harm"
must "each fault is told once" [ "$(said "8099.*does not speak HTTP")" = 1 ]
must "the log has no control characters" eval '! grep -qP "[\x00-\x08\x0b-\x1f\x7f]" "$LAB/collect_c.err"'
