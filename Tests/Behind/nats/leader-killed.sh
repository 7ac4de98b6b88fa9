# One of three servers is killed while messages come, the stream's leader first, and comes back; then another.
site
nats_up
collector_up "$(nats_output)"
agent_up
must "messages arrive" until_true 60 nats_has 20
must "three copies" test "$(nats_request '$JS.API.STREAM.INFO.RIVULET' | jq .config.num_replicas)" = 3
# A cluster that has just lost or won a server chooses one.
has_leader() { leader=$(nats_leader); [ -n "$leader" ]; }
for round in 1 2; do
    must "the stream has a leader" until_true 60 has_leader
    nats_down "$leader" KILL
    must "readings go on" more_readings 30
    must "messages go on" until_true 90 output_is nats phase current
    nats_up "$leader"
    measured "round $round: server $leader was the leader; $(readings) readings"
done
collector_down KILL
collector_again
must "readings" more_readings 20
agent_down
must "nothing is lost, nothing double" becomes_same 90 values nats_values
for port in 4222 4223; do
    NATS_PORT=$port
    must "as another server sees it" becomes_same 90 values nats_values
done
must "the ids are the keys" test "$(nats_messages | cut -f1 | sort -u | wc -l)" = "$(wc -l <"$LAB/expected")"
