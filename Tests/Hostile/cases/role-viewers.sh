# One member invents sixty viewers, each nearer than any that exists: an agent has seven places. A true viewer
# is served all the same, on the agent's own LAN and behind a relay, and keeps its place.
. Tests/Hostile/hostile.sh
host a r v w x
lan 1 a r v x
lan 2 r w
config a agent "$SENSOR
$FIXED"
config r relay
for name in v w; do config $name viewer; done
agent a
agent r
must "the agent runs" until_true 30 up a
attack ghosts x viewers "target=10.77.1.1:$PORT" count=60 seconds=75
must "the member is in" until_true 20 member_up ghosts
invented() { [ "$(table a destinations)" -ge 60 ]; }
must "the agent believes in them" until_true 10 invented
sleep 2
collect v
taken=$(milliseconds_until 20 has_rows v a) || fail "a viewer on the LAN is served"
measured "from a viewer's start to readings, on the LAN: $taken ms"
collect w
taken=$(milliseconds_until 50 has_rows w a) || fail "a viewer behind a relay is served"
measured "and behind a relay: $taken ms"
must "it keeps its place" more_rows w a 5
must "and the first one too" more_rows v a 5
