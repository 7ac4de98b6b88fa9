# One reading dated 1966 does not stop the deletion of what is older than it shall be kept.
. Tests/Hostile/hostile.sh
host c o x
lan 1 c o x
config c collector "$FIXED
collector: {keep: 1h}"
synchronised collect c
must "the collector runs" until_true 30 up c
# Readings of two hours ago, from a board that was up for ten days.
attack old o clock "target=10.77.1.1:$PORT" name=old ahead=864000 readings=20 age=7200 seconds=9
# And one of 1966, from a board that was up for a hundred years.
attack liar x clock "target=10.77.1.1:$PORT" name=liar ahead=3155760000 readings=1 \
    age=$(($(date +%s) + 126230400)) seconds=9
must "the old one is in" until_true 20 member_up old
must "the liar is in" until_true 20 member_up liar
attacked old
attacked liar
sleep 1.5
kept() {
    sql c "SELECT count(*) FROM readings WHERE run_id IN
        (SELECT runs.id FROM runs JOIN peers ON peers.id = runs.peer_id WHERE peers.name = 'old')"
}
must "the old readings were stored" until_true 20 eval '[ "$(kept)" = 20 ]'
stop "$collect_c"
sqlite3 "$LAB/c/readings.sqlite" "UPDATE settings SET value = value - 7200000000000 WHERE name = 'swept'"
synchronised collect c
gone() { [ "$(kept)" = 0 ]; }
must "they are deleted when their time is over ($(kept) kept)" until_true 30 gone
