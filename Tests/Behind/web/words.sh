# In the collector's words: a node and its channels are called, and count, as the configuration says, on cards, in
# charts, in the CSV and in /metrics. SIGHUP takes up other words, and another port.
site
words="agents:
  - node: a
    rename: shed
    channels:
      bench: {rename: warmth, unit: K}"
web_up "" "$words"
agent_up
must "the node has its name" until_true 60 eval '[ -n "$(peer shed)" ]'
shown='.nodes[] | select(.name == "shed") | .channels[] | select(.name == "warmth") | [.value, .symbol] | @tsv'
must "the card" until_true 60 eval '[ "$(get /api/fleet | jq -r "$shown")" = "$(printf "294.65\tK")" ]'
must "readings" more_readings 100 90
peer=$(peer shed)
from=$(($(date +%s) - 3600))000
to=$(($(date +%s) + 60))000
must "the chart counts in kelvins" test "$(get "/api/chart?node=$peer&channel=bench&from=$from&to=$to" |
    jq -r '.lines[] | [.unit, .points[0][1], .points[0][3]] | @tsv')" = "$(printf 'K\t294.65\t294.65')"
must "the CSV" test -n "$(get "/export.csv?node=$peer&channel=bench&from=$from&to=$to" | grep ',shed,warmth,K,.*,294.65,')"
for name in bench warmth; do
    must "a chart of $name" test "$(get "/api/chart?node=$peer&channel=$name&from=$from&to=$to" | jq '.lines | length')" = 1
    must "a CSV of $name" test "$(get "/export.csv?node=$peer&channel=$name&from=$from&to=$to" | wc -l)" -gt 10
done
must "the chart's view" browse words.py "$peer"
must "metrics" test -n "$(get /metrics | grep '^rivulet_warmth_kelvin{.*node="shed"')"

sed -i 's/rename: shed/rename: barn/; s/port: 8080/port: 8081/' "$LAB/c.yaml"
reload
PAGE=http://127.0.0.1:8081
must "another port" until_true 60 page_answers
must "another name" until_true 60 eval '[ -n "$(peer barn)" ]'
PAGE=http://127.0.0.1:8080
must "the old one is free" until_true 30 eval '[ "$(code /)" = 000 ]'
