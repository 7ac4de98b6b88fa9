# Every second reading of a run is announced as lost, thousands a second: what the collector remembers and
# stores of that is bounded, and others are served.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED"
config a agent "$SENSOR"
collect c
agent a
must "readings" until_true 30 has_rows c a 2
before=$(du -sk "$LAB/c" | cut -f 1)
attack flood x gaps "target=10.77.1.1:$PORT" rate=4000000 seconds=10
must "the member is in" until_true 20 member_up flood
must "it ends" attacked flood
must "the agent's readings are settled ($(member a readingsWaiting) wait)" until_true 30 at_most a readingsWaiting 15
grown=$(($(du -sk "$LAB/c" | cut -f 1) - before))
measured "$(tail -n 1 "$LAB/flood.out"); the store grew by $grown kB; memory $(memory_peak "$collect_c") kB"
must "the store grew by $grown kB, not more than 12 MB" [ "$grown" -le 12000 ]
must "the collector is under 60 MB" at_most_kilobytes "$collect_c" 60000
