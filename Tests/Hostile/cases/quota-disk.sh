# One member sends 400 kB of readings a second: it gets its share of the disk, and others are not kept waiting.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED"
config a agent "$SENSOR"
collect c
agent a
must "readings" until_true 15 has_rows c a 2
size() { du -sk "$LAB/c" | cut -f 1; }
before=$(size)
attack flood x readings "target=10.77.1.1:$PORT" rate=400000 seconds=12
must "the member is in" until_true 5 member_up flood
must "it ends" attacked flood
sleep 2
grown=$(($(size) - before))
measured "the store grew by $grown kB; the collector's memory: $(memory_peak "$collect_c") kB"
must "the store grew by $grown kB, not more than 12 MB" [ "$grown" -le 12000 ]
must "the agent's readings are settled" until_true 5 at_most a readingsWaiting 15
must "it is told" grep -qE "rogue.*(quota|limit|share|too many)|(quota|limit|share|too many).*rogue" "$LAB/collect_c.err"
