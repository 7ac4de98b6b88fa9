# A member says that the collector is next to it, with the highest seqno there is, and drives everybody's own
# seqno up. Five seconds after it has
# left, readings flow over the true way again; and the collector may restart.
. Tests/Hostile/hostile.sh
host c r a x
lan 1 c r x
lan 2 r a x
config c collector "$FIXED"
config r relay "$FIXED"
config a agent "$SENSOR
$FIXED"
collect c --trace
agent r
agent a
must "readings over the relay" until_true 20 has_rows c a 2
collector=$(member c peer)
for target in 1 2; do
    attack "liar$target" x routing "target=10.77.2.$target:$PORT" "claim=$collector" seqno=4294967295 seconds=60
done
attack liar3 x routing "target=10.77.1.1:$PORT" "claim=$(member r peer)" seqno=4294967295 kind=node seconds=60
must "the liar is in" until_true 20 member_up liar1
must "with the agent too" until_true 20 member_up liar2
must "and with the collector" until_true 20 member_up liar3
sleep 8
stop "$liar1" KILL
stop "$liar2" KILL
stop "$liar3" KILL
taken=$(milliseconds_until 5 more_reports c a 5) || fail "readings flow within 5 s of the liar's leaving"
measured "from the liar's leaving to a reading: $taken ms"
stop "$collect_c" KILL
collect c --trace
must "and after a restart of the collector" until_true 15 has_rows c a
