# Names that would be syntax: each arrives as it is, and does nothing.
site
pg_ready
collector_up "$(pg_output)"
cat >"$LAB/names" <<'NAMES'
\.
\N
back\slash\t
"q" 'q' $$q$$
x'; DROP SCHEMA rivulet CASCADE; --
<script>alert(1)</script>
#/+$/{},.*>
😀 é
NAMES
sensors="sensors:"
while IFS= read -r name; do
    sensors="$sensors
  - {driver: command, run: [/bin/echo, '1.5'], every: 300ms, name: '$(sed "s/'/''/g" <<<"$name")'}"
done <"$LAB/names"
agent_up a "$sensors
  - {driver: command, run: [/bin/echo, '-9223372036854775807e-9'], every: 300ms, name: digits}
  - {driver: command, run: [/bin/false], every: 300ms, name: 'null'}" "labels: {'k =,\"': 'v, \"=\\'}"
must "the agent runs" until_true 30 eval 'status a >/dev/null 2>&1'
sed -i "s|^name: a\$|name: 'n \"=,\\\\'|" "$LAB/a.yaml"
stop "$agent_a"
agent a
must "readings" more_readings 60
agent_down
must "the server has what the store has" becomes_same 60 values pg_values
must "labels arrive" test "$(pg_says "SELECT DISTINCT labels->>'k =,\"' FROM rivulet.named_readings
    WHERE labels <> '{}'")" = 'v, "=\'
must "names of nodes arrive" test "$(pg_says "SELECT count(*) > 0 FROM rivulet.named_readings
    WHERE node = 'n \"=,\\'")" = t
must "reasons arrive" test "$(pg_says "SELECT count(*) > 0 AND count(reason) = count(*) FROM rivulet.named_readings
    WHERE channel = 'null' AND value IS NULL")" = t
must "all digits arrive" test "$(pg_says "SELECT DISTINCT value FROM rivulet.named_readings WHERE channel = 'digits'
    AND value IS NOT NULL")" = -9223372036.854775807
must "nothing was refused" output_is pg refused 0
