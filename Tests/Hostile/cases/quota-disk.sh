# One member sends 400 kB of readings a second: it gets its share of readings and of the disk, is named, and
# others are not kept waiting.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config a agent "$SENSOR"
agent a
size() { du -sk "$LAB/c" | cut -f 1; }
# flooded QUOTA WHAT KILOBYTES
flooded() {
    local before grown
    config c collector "$FIXED
collector: {$1}"
    collect c
    must "readings ($1)" until_true 30 has_rows c a 2
    before=$(size)
    attack flood x readings "target=10.77.1.1:$PORT" rate=400000 seconds=9
    must "the member is in ($1)" until_true 20 member_up flood
    must "it ends ($1)" attacked flood
    sleep 1.5
    grown=$(($(size) - before))
    measured "$1: the store grew by $grown kB; the collector's memory: $(memory_peak "$collect_c") kB"
    must "$1: the store grew by $grown kB, not more than $3" [ "$grown" -le "$3" ]
    must "$1: the agent's readings are settled" until_true 20 at_most a readingsWaiting 15
    must "$1: it is named" grep -q "rogue .* has reached its quota of $2" "$LAB/collect_c.err"
    stop "$collect_c"
}
flooded "readings-per-agent: 1000" readings 15000
flooded "store-per-agent: 2MiB" bytes 10000
