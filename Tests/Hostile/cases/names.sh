# A member with hostile names is shown and stored as what it is: text. What holds control characters is refused.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED
outputs:
  - {name: lines, json: {file: $LAB/lines.jsonl}}"
config a agent "$SENSOR"
collect c
agent a
must "the collector runs" until_true 30 up c
must "the agent's readings come" until_true 30 has_rows c a
attack liar x names "target=10.77.1.1:$PORT" "name=$(printf 'x\033[2J\302\2332J\342\200\256y')" seconds=9
must "the member is in" until_true 20 member_up liar
must "its readings are written" until_true 30 grep -q 'DROP TABLE' "$LAB/lines.jsonl"
must "it ends" attacked liar
must "each line is JSON" jq -e . "$LAB/lines.jsonl"
must "each line of the table is, too" jq -e . "$LAB/collect_c.out"
must "births with such names were refused" test "$(drops c birth-malformed)" -ge 16
# Neither a control character of either kind nor one that turns the text around, on any line.
plain() { ! LC_ALL=C grep -qaP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xa8-\xae]' "$1"; }
status c >"$LAB/status.json"
in_host c "$BIN/rivulet" status --socket "$LAB/c.sock" >"$LAB/status.txt" 2>&1
in_host c "$BIN/rivulet" query readings --config "$LAB/c.yaml" >"$LAB/readings.txt" 2>&1
for file in collect_c.err status.txt readings.txt a.err; do
    must "$file is plain text" plain "$LAB/$file"
done
must "the honest agent goes on" more_rows c a
