# Both had no power, and only the collector came back: the board is there, with its age and its last values, in the page,
# in what `rivulet top` reads and in `rivulet status`; its channels have their charts. When it comes back it is as before.
site a b
web_up
agent_up a
agent_up b
must "readings" until_true 60 online 2
must "of both" more_readings 100
peer=$(peer b)
mesh_then() { then=$(date +%s)000; [ "$(get "/api/mesh?at=$then" | jq '.links | length')" = 2 ]; }
must "the mesh is recorded" until_true 90 mesh_then
stop "$agent_b" KILL
must "what came is stored" more_readings 20
collector_down KILL
collector_again
must "the page" until_true 60 page_answers
must "one is online" until_true 60 online 1
shown='.nodes[] | select(.name == "b") | [.online, (.channels | map(.name) | join(" "))] | @tsv'
must "the other is silent" until_true 60 eval '[ "$(get /api/fleet | jq -r "$shown")" = "$(printf "false\tbench count")" ]'
age() { get /api/fleet | jq '(.collector.utc - (.nodes[] | select(.name == "b") | .heard)) / 1000 | floor'; }
must "with its age: $(age)" test "$(age)" -ge 1 -a "$(age)" -lt 300
must "the browser shows it" browse before.py "$peer" "$then"
must "in status" test -n "$("$BIN/rivulet" status --config "$LAB/c.yaml" | grep -E '^b .* agent .* ago')"
must "another start" collector_down TERM
collector_again
must "is no other" until_true 60 eval '[ "$(get /api/fleet | jq -r "$shown")" = "$(printf "false\tbench count")" ]'
agent b
must "it comes back" until_true 60 online 2
must "under its name" test "$(get /api/fleet | jq '[.nodes[] | select(.name == "b")] | length')" = 1
