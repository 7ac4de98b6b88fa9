# Handshakes that are begun and left, 50 kB of them a second: from one address, from sixteen, and such that go
# on to their keys. A newcomer joins within seconds, and an agent beside, flooded too, stays small.
. Tests/Hostile/hostile.sh
host c a b d e x
lan 1 c b d e x a
lan 2 a x
config c collector "$FIXED"
config a agent "$FIXED"
# The lower PeerID invites: the newcomers have to come to the collector.
identity c high
for name in b d e; do
    config $name agent "$SENSOR"
    identity $name low
done
for last in $(seq 101 116); do ip -n "$NS-x" addr add "10.77.1.$last/24" dev eth1; done
many=$(seq -s , -f 10.77.1.%g 101 116)
collect c
agent a
must "the agent runs" until_true 30 up a
must "the collector runs" until_true 30 up c
sleep 6
measured "the agent's memory before: $(memory "$agent_a") kB"
sizes=()
# flood NEWCOMER WHAT key=value…: the collector, to which a newcomer has to come by itself.
flood() {
    local newcomer=$1 what=$2
    shift 2
    attack flood x handshakes "target=10.77.1.1:$PORT" rate=50000 seconds=9 "$@"
    sleep 2
    agent "$newcomer"
    taken=$(milliseconds_until 6 connected "$newcomer") || fail "a newcomer joins while $what"
    sizes+=("$(memory "$agent_a")")
    measured "from the newcomer's start to the collector while $what: $taken ms"
    attacked flood
    measured "$(tail -n 1 "$LAB/flood.out")"
}
attack small x handshakes "target=10.77.2.1:$PORT" from=10.77.2.2 rate=50000 seconds=30
flood b "one address floods" from=10.77.1.5
flood d "sixteen addresses flood" "from=$many"
flood e "handshakes go on to their keys" from=10.77.1.5 until=keys
most=$(printf '%s\n' "${sizes[@]}" | sort -n | tail -1)
measured "the agent's memory: $most kB, the collector's peak: $(memory_peak "$collect_c") kB"
must "the agent is under 12 MB ($most kB)" [ "${most% *}" -le 12288 ]
