# Two nodes with BR/EDR controllers only, which have each other's address in their configuration.
# at most 600 s
. Tests/Lab/bluetooth.sh
KIND=-B emulated 2
for index in 0 1; do mgmt --index $index bredr on >>"$LAB/mgmt.out"; done
old() {
    config "$1" "$2" "links: {udp: off, bluetooth: {adapter: \"${ADDRESSES[$3]}\", peers: [\"${ADDRESSES[$4]}\"]}}
${5:-}"
}
old c collector 0 1
old a agent 1 0 "$SENSOR"
collect_here c
agent_here a
connecting=$(milliseconds_until 90 connected a) || fail "the agent has a collector"
measured "from the start to a collector over BR/EDR: $connecting ms"
must "readings" until_true 90 has_rows c a
must "more readings" more_rows c a 60
