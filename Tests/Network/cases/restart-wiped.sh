# The agent is killed and comes back: once with its key and nothing else, once with a new key. Over the
# relay, which remembers it, it is heard again within a second of its start.
host c r a
lan 1 c r
lan 2 r a
config c collector
config r relay
config a agent "$SENSOR"
collect c --trace
agent r
agent a
must "readings before" until_true 30 has_rows c a

# heard_since NANOSECONDS: prints how long after it the first report came, in ms.
heard_since() {
    awk -v from="$1" '$1 == "report" && $2 > from { printf "%d", ($2 - from) / 1000000; exit }' \
        "$LAB/collect_c.err"
}
comes_back() {
    local started delay
    sleep 1
    started=$(date +%s%N)
    agent a
    sleep 1.5
    delay=$(heard_since "$started")
    echo "$1: first report ${delay:-not one} ms after the start"
    must "readings again, $1" [ -n "$delay" ]
    must "heard within a second, $1 (it took $delay ms)" [ "$delay" -le 1000 ]
}
stop "$agent_a" KILL
comes_back "with its key"
stop "$agent_a" KILL
rm -rf "$LAB/a"
comes_back "with a new key"
