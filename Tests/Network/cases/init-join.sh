# A network as `rivulet init` makes it and a board that joins by the printed line: nothing else is configured. The
# line names the collector; another one with the same secret gets nothing. A second run finds all as it is.
host c a x
lan 1 c a x
made() { in_host "$1" "$BIN/rivulet" "${@:2}" --name "$1" --directory "$LAB/$1" 2>"$LAB/made_$1.err"; }
made c init --network greenhouse --role collector >"$LAB/line" || fail "rivulet init"
made a join <"$LAB/line" >/dev/null || fail "rivulet join"
made x init --network greenhouse --role collector --secret-file "$LAB/c/secret" >/dev/null ||
    fail "the other collector"
must "the board that joined passes the line on" \
    [ "$("$BIN/rivulet" init --show --directory "$LAB/a" 2>/dev/null)" = "$(cat "$LAB/line")" ]
for name in c a x; do
    ln -s "$LAB/$name/config.yaml" "$LAB/$name.yaml"
    ln -s "$LAB/$name/agent.sock" "$LAB/$name.sock"
    must "the configuration of $name fits" "$BIN/rivulet" check --here "$LAB/$name.yaml"
done
# stored NAME: how many readings its store has.
stored() { sqlite3 -readonly "$LAB/$1/state/readings.sqlite" "SELECT count(*) FROM readings" 2>/dev/null || echo 0; }
has_readings() { [ "$(stored "$1")" -gt 5 ]; }
collect x
agent a
must "the agent runs" until_true 30 status a
must "the other collector runs" until_true 30 status x
sleep 3
must "a collector that the line does not name gets nothing" [ "$(stored x)" = 0 ]
collect c
must "the collector of the line gets readings" until_true 40 has_readings c
must "and still no other" [ "$(stored x)" = 0 ]
in_host a "$BIN/rivulet" init --directory "$LAB/a" >"$LAB/again" 2>&1
must "a second run says what is there" grep -q 'is there already: agent a' "$LAB/again"
