# The mesh as a picture: a relay stands between the collector and an agent; links have their kinds, costs and names,
# and what was an hour ago is shown as it was.
host c r a
lan 1 c r
lan 2 r a
config r relay
web_up
agent r
agent_up a
must "both are there" until_true 60 eval '[ "$(get /api/fleet | jq "[.nodes[] | select(.online)] | length")" -ge 2 ]'
must "links are known" until_true 90 eval '[ "$(get /api/mesh | jq ".links | length")" -ge 2 ]'
must "the picture" browse mesh.py
# It was written down, for later.
must "it is kept" until_true 90 eval '[ "$(get "/api/mesh?at=$(date +%s)000" | jq ".links | length")" -ge 2 ]'
must "before there was nothing" test "$(get "/api/mesh?at=1000000000000" | jq '.links | length')" = 0
