# A node that was admitted as an agent calls itself a collector in routing, and gives receipts: it gets no
# readings, and settles none.
. Tests/Hostile/hostile.sh
host c a x
lan 1 a x c
config c collector
config a agent "$SENSOR
$FIXED"
agent a
must "the agent runs" until_true 10 up a
attack liar x collector "target=10.77.1.1:$PORT" role=agent seconds=8
must "the liar is in" until_true 5 member_up liar
must "it ends" attacked liar
measured "the liar had $(tail -n 1 "$LAB/liar.out")"
must "the agent keeps its readings" at_least a readingsWaiting 30
collect c
must "the true collector has all, from the first on" until_true 30 has_all c
