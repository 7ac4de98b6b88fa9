# Other words at the collector for an agent whose program goes on: rows have them after a reload, and after a restart.
site
pg_ready
collector_up "$(pg_output)"
agent_up a "" "labels: {site: hill}"
must "readings arrive" until_true 60 pg_has 20
named() {
    [ "$(pg_says "SELECT DISTINCT node, labels->>'site', labels->>'floor' FROM rivulet.named_readings")" = "$1" ] &&
        [ "$(pg_says "SELECT DISTINCT node, labels->>'floor' FROM rivulet.named_hours")" = "$2" ]
}
must "as the agent says" named "a	hill	" "a	"
collector_config "$(pg_output)" "agents: [{node: a, rename: Küche 1, labels: {site: valley, floor: '2'}}]"
reload
must "as the collector says" until_true 60 named "Küche 1	valley	2" "Küche 1	2"
collector_down
collector_config "$(pg_output)" "agents: [{node: a, rename: attic, labels: {floor: '3'}}]"
collector_again
must "and after a restart" until_true 60 named "attic	hill	3" "attic	3"
agent_down
must "every reading is there once" becomes_same 60 values pg_values
