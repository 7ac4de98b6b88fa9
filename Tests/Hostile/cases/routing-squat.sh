# A member claims a PeerID that begins as the collector's does: the collector's own neighbour knows better, and
# where nobody does, the true one is reached within five seconds of the liar's leaving.
. Tests/Hostile/hostile.sh
host c r a x
lan 1 c r
lan 2 r a x
config c collector "$FIXED"
config r relay "$FIXED"
config a agent "$SENSOR
$FIXED"
collector=$(made_identity c) || fail "the collector has an identity"
agent r
agent a
must "relay and agent meet" until_true 10 has_neighbours a 1
attack liar x routing "target=10.77.2.1:$PORT" "claim=$collector" squat=1 kind=node seconds=60
must "the liar is in" until_true 20 member_up liar
sleep 2
collect c --trace
must "readings while the relay is lied to" until_true 20 has_rows c a 2
stop "$collect_c" KILL
attack liar2 x routing "target=10.77.2.2:$PORT" "claim=$collector" squat=1 kind=node seconds=60
must "the liar is in with the agent too" until_true 20 member_up liar2
sleep 4
collect c --trace
sleep 4
stop "$liar" KILL
stop "$liar2" KILL
taken=$(milliseconds_until 5 more_reports c a 5) || fail "readings flow within 5 s of the liar's leaving"
measured "from the liar's leaving to a reading: $taken ms"
