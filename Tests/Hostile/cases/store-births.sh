# A report on a run whose birth is pushed out by sixteen others in the same second: what cannot be written is
# left out, and everybody else's readings are stored and settled.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED"
config a agent "$SENSOR"
synchronised collect c
agent a
must "readings" until_true 30 has_rows c a 2
# Births that are known, and then no longer in the store: empty runs are swept.
attack first x evict "target=10.77.1.1:$PORT" phase=births "state=$LAB/x" seconds=4
must "the member is in" until_true 20 member_up first
must "its births are told" attacked first
stop "$agent_a"
stop "$collect_c"
sqlite3 "$LAB/c/readings.sqlite" "UPDATE settings SET value = value - 7200000000000 WHERE name = 'swept'"
synchronised collect c
must "the collector runs again" until_true 30 up c
swept() { [ "$(sql c "SELECT count(*) FROM runs JOIN peers ON peers.id = peer_id WHERE name = 'rogue'")" = 1 ]; }
agent a
must "the empty runs are swept" until_true 30 swept
must "readings again" until_true 30 has_rows c a 2
attack liar x evict "target=10.77.1.1:$PORT" "state=$LAB/x" seconds=8
must "the member is in again" until_true 20 member_up liar
must "it ends" attacked liar
must "the agent's readings are settled ($(member a readingsWaiting) wait)" until_true 20 at_most a readingsWaiting 15
must "the store is good" grep -q '"store":"good"' <(status c)
run=$(sql c "SELECT lower(hex(run)) FROM runs JOIN peers ON peers.id = peer_id WHERE peers.name = 'a' ORDER BY runs.id DESC LIMIT 1")
stored() { stored_numbers c "$run" | awk '$1 != NR { gap = 1 } END { exit gap || NR < 20 }'; }
must "all are there" until_true 30 stored
