# Other words at the collector: in what `collect` prints, in queries, in `rivulet top`; the store keeps the agent's.
site
collector_up "" "agents:
  - node: a
    rename: greenhouse
    labels: {site: north}
    channels:
      bench: {rename: air.temperature, unit: \"[degF]\", offset: -0.5}
      count: {unit: V}"
agent_up a "" "labels: {owner: me}"
must "rows" until_true 60 has_rows c greenhouse 3
row=$(grep '"channel":"air.temperature"' "$LAB/collect_c.out" | grep -v '"count":0,' | tail -n 1)
must "the unit" [ "$(jq -r .unit <<<"$row")" = "[degF]" ]
must "the value, calibrated before it is changed" [ "$(jq -r .last <<<"$row")" = 69.8 ]
must "and the mean" [ "$(jq -r '.mean * 1000 | round' <<<"$row")" = 69800 ]
must "labels of both" [ "$(jq -c .labels <<<"$row")" = '{"owner":"me","site":"north"}' ]
must "nothing under its own name" sh -c "! grep -q '\"node\":\"a\"' '$LAB/collect_c.out'"

query() { "$BIN/rivulet" query --config "$LAB/c.yaml" "$@"; }
must "queries have the words" sh -c "[ \"\$($BIN/rivulet query --config $LAB/c.yaml --node greenhouse \
    --channel air.temperature --format json --limit 1 | jq -r '.value')\" = 69.8 ]"
must "and know the agent's too" sh -c "$BIN/rivulet query --config $LAB/c.yaml --node a --channel bench --limit 1 \
    | grep -q greenhouse"
must "windows as well" sh -c "$BIN/rivulet query --config $LAB/c.yaml --window 10s --format csv --channel air.temperature \
    | grep -q '69.8.*\"\"site\"\":\"\"north\"\"'"
must "--raw has what came" sh -c "[ \"\$($BIN/rivulet query --config $LAB/c.yaml --raw --node a --channel bench \
    --format json --limit 1 | jq -r '.value')\" = 21.5 ]"
must "by the names that are shown, too" sh -c "$BIN/rivulet query --config $LAB/c.yaml --raw --node greenhouse \
    --channel air.temperature --format json --limit 1 | jq -e '.node == \"a\" and .channel == \"bench\"'"
must "as the store" [ "$(sql c "SELECT name FROM channels WHERE unit = 'Cel'")" = bench ]
must "a unit for numbers that came without one" sh -c "$BIN/rivulet query --config $LAB/c.yaml --channel count \
    --limit 1 --format json | grep -q '\"unit\":\"V\"'"

"$BIN/rivulet" top --socket "$LAB/c.sock" >"$LAB/top.txt" || fail "top"
must "top has them" grep -qE '^greenhouse +air\.temperature +69\.8' "$LAB/top.txt"

# Read again, without a stop.
sed -i 's/rename: greenhouse/rename: orangery/; s/unit: "\[degF\]"/unit: V/' "$LAB/c.yaml"
reload
must "another name, after a reload" until_true 60 has_rows c orangery 3
must "and only that one" sh -c "tail -n 1 '$LAB/collect_c.out' | grep -q orangery"
must "a unit that nothing leads to is told once" until_true 30 says_once 'bench of a .*cannot be converted to V'
must "and values stay in their own" sh -c "tail -n 9 '$LAB/collect_c.out' | grep -q '\"unit\":\"Cel\".*\"last\":21.0'"
