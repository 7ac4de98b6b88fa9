# Only the listed are let in; the others are refused by name, and hear why. A card that was copied stops with one
# line, and `rivulet identity adopt` repairs it.
. Tests/Network/authority.sh
host c a b
lan 1 c a b
for node in c a b; do
    keyed $node agent any
    identity request $node >/dev/null
done
peer() { identity show "$1" | sed -n 's/^peer  *//p'; }
listed="{pinned: [$(peer c), $(peer a)]}"
stranger=$(peer b)
keyed c collector "$listed" 'links: {udp: {port: 4577}}'
keyed a agent "$listed" "$SENSOR"
keyed b agent any "$SENSOR
links: {udp: {peers: [\"10.77.1.1:4577\"]}}"
collect c
agent a
agent b
must "the listed one gets in" until_true 30 has_rows c a
refused() { [ "$(drops c admission-not-listed)" -gt 0 ]; }
must "the other one is refused and counted" until_true 30 refused
must "by its PeerID" until_true 30 grep -q "is $stranger, which .trust: pinned. does not list" "$LAB/collect_c.err"
must "in the status too" until_true 30 eval 'status c | grep -q "\"cause\":\"not-listed\""'
must "no reading of it" [ "$(rows c b)" = 0 ]
must "the right one goes on" more_rows c a

# A binding that is another board's.
stop "$agent_a"
must "bound to a board" grep -q '^Binding: ' "$LAB/a/identity.pem"
sed -i '1s/.*/Binding: serial 10000000deadbeef/' "$LAB/a/identity.pem"
"$BIN/rivulet-agent" --config "$LAB/a.yaml" 2>"$LAB/moved.err"
status=$?
if grep -q '^Binding: none' <(sed 1q "$LAB/b/identity.pem"); then
    # This machine has nothing to bind to, so nobody can tell.
    echo "no binding here"
else
    must "it does not start" [ $status = 78 ]
    must "one line says what to do" [ "$(grep -c 'rivulet identity adopt' "$LAB/moved.err")" = 1 ]
    must "its identity is untouched" [ "$(find "$LAB/a" -name 'identity*' | wc -l)" = 1 ]
    must "adopted" identity adopt a >/dev/null
    agent a
    must "it is let in as before" more_rows c a 30
fi
