# Whoever knows the secret can be admitted as a collector; where `collectors:` names those that are meant, it
# gets nothing all the same.
. Tests/Hostile/hostile.sh
host c a x
lan 1 a x c
config c collector
collector=$(made_identity c) || fail "the collector has an identity"
config a agent "$SENSOR
$FIXED
collectors: [\"$collector\"]"
agent a
must "the agent runs" until_true 30 up a
attack liar x collector "target=10.77.1.1:$PORT" role=collector seconds=8
must "the liar is in" until_true 20 member_up liar
must "it ends" attacked liar
measured "the liar had $(tail -n 1 "$LAB/liar.out")"
must "the agent keeps its readings" at_least a readingsWaiting 30
collect c
must "the one that is named has all, from the first on" until_true 30 has_all c
