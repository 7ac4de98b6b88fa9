# The collector's disk is full for a while: it says so and gives no receipts, the agent keeps what it has, and
# when there is room again everything comes, once.
host c a
lan 1 c a
mkdir -p "$LAB/c"
mount -t tmpfs -o size=400k rivulet-test "$LAB/c"
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 30 has_rows c a 2
head -c 500000 /dev/zero >"$LAB/c/filler" 2>/dev/null
must "it says what is the matter" until_true 40 grep -q "no space left" "$LAB/collect_c.err"
must "and in its status" until_true 30 bash -c "'$BIN/rivulet' status --json --socket '$LAB/c.sock' | grep -q 'no space'"
must "the table goes on" more_rows c a
must "the agent keeps its readings" until_true 40 at_least a readingsWaiting 40
rm "$LAB/c/filler"
must "it works again" until_true 40 grep -q "works again" "$LAB/collect_c.err"
must "the agent is rid of them" until_true 40 at_most a readingsWaiting 15
must "all are there" until_true 30 has_all c
stop "$collect_c"
umount "$LAB/c"
