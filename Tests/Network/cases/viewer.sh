# A viewer looks in over the relay: it gets copies and swallows nothing, with a collector and without.
host c v r a
lan 1 c v r
lan 2 r a
config c collector
config v viewer
config r relay
config a agent "$SENSOR"
collect v
agent r
agent a
must "the viewer sees readings" until_true 40 has_rows v a 3
must "and nothing is settled" until_true 30 at_least a readingsWaiting 10
must "it is no collector" [ "$(status a | grep -c '"collector":null')" = 1 ]
must "the viewer stores nothing" [ ! -e "$LAB/v/readings.sqlite" ]
collect c
must "the collector has all, from the first on" until_true 40 has_all c
must "the agent is rid of them" until_true 30 at_most a readingsWaiting 15
must "the viewer still looks in" more_rows v a
stop "$collect_v" KILL
must "nothing is missed when it goes" until_true 30 has_up_to c "$(member a readings)"
