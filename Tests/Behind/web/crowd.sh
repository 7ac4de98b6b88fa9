# A hundred open pages: all of them hear what is new, one that reads nothing disturbs nobody, and the collector goes on
# collecting. Prints what it costs.
site
web_up
agent_up
must "readings" more_readings 20
must "the agent is there" until_true 60 online 1
before=$(readings)
must "a hundred pages" browse crowd.py "$collect_c" 100
must "readings went on" test "$(readings)" -gt $((before + 50))
must "the page is there" answers_with 200 /api/fleet
must "all connections are gone" until_true 60 eval '[ "$(in_host c ss -Htn state established "sport = :8080" | wc -l)" -le 1 ]'
