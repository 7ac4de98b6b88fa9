# A store on a medium that cannot be written, as of a board that is looked into: `query` reads it as it lies there. One
# with a log that nobody has worked in is refused, with what to do.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings are stored" until_true 30 eval '[ "$(sql c "SELECT count(*) FROM readings")" -ge 2 ]'
stop "$agent_a"
stop "$collect_c"
mkdir "$LAB/medium"
mount -t tmpfs rivulet-test "$LAB/medium"
cp "$LAB/c/readings.sqlite" "$LAB/medium/"
mount -o remount,ro "$LAB/medium"
lines() { "$BIN/rivulet" query --store "$1" --format csv | wc -l; }
must "as many as where it was written" [ "$(lines "$LAB/medium/readings.sqlite")" = "$(lines "$LAB/c/readings.sqlite")" ]
must "more than a heading" [ "$(lines "$LAB/medium/readings.sqlite")" -ge 3 ]
mount -o remount,rw "$LAB/medium"
echo log >"$LAB/medium/readings.sqlite-wal"
mount -o remount,ro "$LAB/medium"
"$BIN/rivulet" query --store "$LAB/medium/readings.sqlite" >/dev/null 2>"$LAB/refused" && fail "a store with a log left was read without it"
must "it says what to do: $(cat "$LAB/refused")" grep -q "copy" "$LAB/refused"
umount "$LAB/medium"
