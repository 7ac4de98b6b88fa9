# What is missing for good is shown with its time: in Health, and where it is in the chart.
site
web_up
agent_up
must "readings" more_readings 30
stop "$agent_a" KILL
agent a
must "the killed run's end is a gap" until_true 60 eval '[ "$(get /api/gaps | jq .total)" = 1 ]'
last=$(get /api/gaps | jq '.gaps[0].from')
now=$(date +%s)000
must "with its time: $last" test "$last" -gt $((now - 120000)) -a "$last" -lt $((now + 2000))
must "that has no end" test "$(get /api/gaps | jq '.gaps[0].to')" = null
must "the page shows it" browse gaps.py "$(peer a)"
