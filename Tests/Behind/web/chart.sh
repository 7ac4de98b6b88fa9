# A chart shows what is stored: the same numbers as `rivulet query`; zoom by drag and keys, several channels over one
# another, and the CSV.
site
web_up
agent_up
must "readings" more_readings 150 120
agent_down
settled() { local before; before=$(readings); sleep 3; [ "$(readings)" = "$before" ]; }
must "all are stored" until_true 60 settled
peer=$(peer a)
# A machine under load may have missed a reading: it has no value, and the chart a gap.
stored | jq -r 'select(.channel == "count") | .value // empty' | sort -n >"$LAB/values"
must "the chart shows them" browse chart.py "$peer" "$(head -1 "$LAB/values")" "$(tail -1 "$LAB/values")" \
    "$(wc -l <"$LAB/values")"

from=$(($(date +%s) - 3600))000
to=$(($(date +%s) + 60))000
get "/export.csv?node=$peer&channel=count&from=$from&to=$to" >"$LAB/page.csv"
"$BIN/rivulet" query --config "$LAB/c.yaml" --format csv --channel count >"$LAB/query.csv"
must "the CSV has values" test "$(wc -l <"$LAB/page.csv")" -gt 50
must "the CSV is what query says" cmp "$LAB/page.csv" "$LAB/query.csv"

# No chart has more points than a screen: 2,000, whatever is asked for.
points=$(get "/api/chart?node=$peer&channel=count&from=$from&to=$to&points=99999999" |
    jq '[.lines[].points | length] | max')
must "points: $points" test "$points" -gt 1 -a "$points" -le 2000
# A pattern is a name here.
must "no channel *" test "$(get "/api/chart?node=$peer&channel=*&from=$from&to=$to" | jq '.lines | length')" = 0
