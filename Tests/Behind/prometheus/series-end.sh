# A series that ends is marked stale: with another name at the collector, and when its node goes.
site
prometheus_up "$ANY_ORDER" --web.enable-remote-write-receiver
collector_up "$(write_output)"
agent_up
names() { prometheus_says 'rivulet_bench_celsius' | jq -r '.[].metric.node' | tr '\n' ' '; }
must "a series" until_true 60 eval '[ "$(names)" = "a " ]'
collector_config "$(write_output)" "agents: [{node: a, rename: shed}]"
reload
must "the one under the new name alone" until_true 60 eval '[ "$(names)" = "shed " ]'
stop "$agent_a" KILL
must "none when the node is gone" until_true 90 eval '[ -z "$(names)" ]'
agent_up
must "it goes on when it is back" until_true 60 eval '[ "$(names)" = "shed " ]'
agent_down
must "the server has what the store has" becomes_same 90 as_samples samples
