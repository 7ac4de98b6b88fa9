# One member fills the table of series with runs of 1,024 channels: an agent that comes later is still shown.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED"
config a agent "$SENSOR"
collect c
must "the collector runs" until_true 30 up c
attack flood x series "target=10.77.1.1:$PORT" rate=2000000 seconds=15
must "the member is in" until_true 20 member_up flood
sleep 9
agent a
must "the newcomer's readings are in the table" until_true 30 has_rows c a
must "it ends" attacked flood
measured "$(tail -n 2 "$LAB/flood.out" | tr '\n' ' '); the collector's memory: $(memory_peak "$collect_c") kB"
