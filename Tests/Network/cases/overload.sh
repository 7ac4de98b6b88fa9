# A relay gets many times what it can carry, all of it from one node: another one behind it does not lose a
# twentieth of its messages. valgrind makes the relay slow.
host c r a b
lan 1 c r
lan 2 r a b
config c collector
config r relay
for name in a b; do config $name agent; done
start agent_r r valgrind -q --tool=none "$BIN/rivulet-agent" --config "$LAB/r.yaml"
start receive c "$BIN/latency" receive "$LAB/c.yaml" 500 90
start flood b nice -n 5 "$BIN/latency" flood "$LAB/b.yaml" 1000000000 90 fresh
overflows() { [ "$(drops r arrivals-full-fresh)" -ge 1000 ]; }
must "the relay cannot carry what comes" until_true 60 overflows
start send a "$BIN/latency" seldom "$LAB/a.yaml" 500 60
# It ends when nineteen of twenty are there, or nothing comes any more.
wait "$receive" || fail "the receiver"
read -r p50 p99 _ _ count <"$LAB/receive.out"
measured "$count of 500 messages; half took $p50 µs, 99 of 100 at most $p99 µs"
must "the messages of who floods not" [ "$count" -ge 475 ]
must "the flood goes on" kill -0 "$flood"
