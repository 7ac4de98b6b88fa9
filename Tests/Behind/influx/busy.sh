# A server that asks to be left alone for a while is.
site
start server c python3 Tests/Behind/http_server.py 8086 busy "$LAB/requests" 20
collector_up "$(influx_output)"
agent_up
must "a request" until_true 60 test -s "$LAB/requests"
sleep 12
must "is the only one for 12 s" test "$(wc -l <"$LAB/requests")" = 1
must "it comes back after 20 s" until_true 80 eval '[ "$(wc -l <"$LAB/requests")" -ge 2 ]'
must "told once" says_once "influx.*answered 503: overloaded"
