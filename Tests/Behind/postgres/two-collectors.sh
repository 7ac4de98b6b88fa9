# Two collectors, whose clocks differ, hear one agent in turn and both write: each reading is there once.
site a d
pg_ready
collector_up "$(pg_output)"
config d collector "outputs:
$(PG_HOST=10.77.1.1 pg_output ", tls: off" | sed 's/^/  /')"
agent_up
must "readings arrive" until_true 60 pg_has 20
pretend_clock
jump 2
collect d
unset LD_PRELOAD
must "the other collector starts" until_true 60 answers d
turn() {
    kill -STOP "$1"
    must "the other has readings" until_true 60 eval '[ "$(readings '"$2"')" -gt '"$(($(readings "$2") + 20))"' ]'
    kill -CONT "$1"
}
for _ in 1 2; do
    turn "$collect_c" d
    turn "$collect_d" c
done
agent_down
both() {
    {
        stored c
        stored d
    } | values | sort -u
}
same_as_both() {
    both >"$LAB/expected"
    pg_values | LC_ALL=C sort >"$LAB/found"
    [ -s "$LAB/expected" ] && cmp -s "$LAB/expected" "$LAB/found"
}
until_true 60 same_as_both || fail "$(wc -l <"$LAB/expected") in both stores, $(wc -l <"$LAB/found") in the database:
$(diff "$LAB/expected" "$LAB/found" | head -n 6)"
must "both wrote" test "$(pg_says 'SELECT count(DISTINCT collector) FROM rivulet.readings')" = 2
measured "$(wc -l <"$LAB/found") readings, $(cat <(stored c) <(stored d) | wc -l) in both stores together"
