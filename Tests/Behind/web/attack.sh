# Requests that are malformed, enormous, endless or slow, readers that read nothing, hundreds of streams: the page answers
# others within moments, and the collector goes on collecting.
site
web_up
agent_up
must "readings" more_readings 20
before=$(readings)
browse attack.py "$collect_c" || fail "the page gave way"
must "readings went on" test "$(readings)" -gt $((before + 30))
must "the page is there" answers_with 200 /api/fleet
must "nothing of it is in the log" [ "$(wc -l <"$LAB/collect_c.err")" -lt 40 ]
