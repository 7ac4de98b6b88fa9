# Names that would be syntax: each arrives as it is, and does nothing.
site
influx_up
collector_up "$(influx_output)"
cat >"$LAB/names" <<'NAMES'
a b,c=d
"q" value=1
\
back\slash
x'; DROP DATABASE rivulet; --
<script>alert(1)</script>
#/+$/{}
\,
 value=9i 0
😀 é
NAMES
sensors="sensors:"
while IFS= read -r name; do
    sensors="$sensors
  - {driver: command, run: [/bin/echo, '1.5'], every: 300ms, name: 'c$(sed "s/'/''/g" <<<"$name")x'}"
done <"$LAB/names"
config a agent "$sensors
report: {wait: 0s}
labels: {'k =,\"': 'v, \"=\\'}"
sed -i "s|^name: a\$|name: 'n \"=,\\\\'|" "$LAB/a.yaml"
agent a
must "readings" more_readings 60
agent_down
must "the server has what the store has" becomes_same 60 values influx_values
must "the database is still there" test "$(influx_says 'SHOW DATABASES' | grep -c rivulet)" = 1
must "one measurement" test "$(influx_says 'SHOW MEASUREMENTS' | jq -c '.results[0].series[0].values')" = '[["reading"]]'
must "labels arrive" test "$(influx_says 'SHOW TAG VALUES WITH KEY = "label_k =,\""' |
    jq -r '.results[0].series[0].values[0][1]')" = 'v, "=＼'
must "names of nodes arrive" test "$(influx_says 'SHOW TAG VALUES WITH KEY = "node"' |
    jq -r '[.results[0].series[0].values[][1]] | contains(["n \"=,＼"])')" = true
must "nothing was refused" output_is influx refused 0
