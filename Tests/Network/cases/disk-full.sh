# The disk is full at the first start: the identity lives in memory and says why; the readings flow. A
# collector whose output cannot be written says so and ends with an error.
host c a
lan 1 c a
config c collector
mkdir -p "$LAB/full"
mount -t tmpfs -o size=4k rivulet-test "$LAB/full"
head -c 4096 /dev/zero >"$LAB/full/filler"
sed "s|^state: .*|state: $LAB/full/a|" <(config a agent "$SENSOR"; cat "$LAB/a.yaml") >"$LAB/full.yaml"
cp "$LAB/full.yaml" "$LAB/a.yaml"
collect c
agent a
must "readings all the same" until_true 30 has_rows c a
must "it says what is the matter" grep -q "No space left" "$LAB/agent_a.err"
must "and that the identity will not last" grep -qi "ephemeral\|memory" "$LAB/agent_a.err"
must "nothing half written is left" [ "$(find "$LAB/full" -type f ! -name filler ! -name lock | wc -l)" = 0 ]
stop "$collect_c"
start full_c c bash -c "exec '$BIN/rivulet' collect --config '$LAB/c.yaml' --format csv --every 1s >/dev/full"
ended() { ! kill -0 "$full_c" 2>/dev/null; }
must "a collector that cannot print ends" until_true 40 ended
wait "$full_c" && fail "it ended without an error"
must "and says why" grep -q "No space left" "$LAB/full_c.err"
umount "$LAB/full"
