# Garbage that looks like sealed frames, 54 kB of it a second: who is configured as a peer is found all the
# same, and who comes with a ticket.
. Tests/Hostile/hostile.sh
host c a b x
lan 1 c a b x
quiet="links: {udp: {beacon: false, port: $PORT}}"
config c collector "$quiet"
config a agent "$SENSOR
links: {udp: {beacon: false, port: $PORT, peers: [\"10.77.1.1:$PORT\"]}}"
config b agent "$SENSOR
$quiet"
agent a
agent b
must "the agents run" until_true 30 up a
must "both" until_true 30 up b
for last in 2 3; do
    attack "garbage$last" x garbage "target=10.77.1.$last:$PORT" from=10.77.1.4 rate=54000 seconds=30
done
sleep 2
collect c
must "the collector runs" until_true 30 up c
taken=$(milliseconds_until 10 connected a) || fail "a configured peer is found"
measured "from the collector's start to the agent that has it configured: $taken ms"
ticket=$("$BIN/rivulet" ticket --valid 10min --socket "$LAB/c.sock")
"$BIN/rivulet" connect "$ticket" --socket "$LAB/b.sock" >"$LAB/connect.out" 2>&1
taken=$(milliseconds_until 10 connected b) || fail "a ticket's peer is found"
measured "and to the one with a ticket: $taken ms"
must "readings" until_true 10 has_rows c a
