# The collector's disk becomes read-only, and writable again.
host c a
lan 1 c a
mkdir -p "$LAB/c"
mount -t tmpfs -o size=4m rivulet-test "$LAB/c"
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 30 has_rows c a 2
# The files that are open for writing forbid it of the whole file system: the collector comes back to a disk
# that takes nothing.
stop "$collect_c" KILL
mount -o remount,ro "$LAB/c"
collect c
must "it says what is the matter" until_true 40 grep -qiE "read-only|no receipts" "$LAB/collect_c.err"
must "the table goes on" until_true 40 has_rows c a 2
must "the agent keeps its readings" until_true 40 at_least a readingsWaiting 40
# `ip netns exec` gave the collector its own view of the mounts.
mount -o remount,rw "$LAB/c"
nsenter --mount --target "$collect_c" mount -o remount,rw "$LAB/c"
must "the agent is rid of them" until_true 60 at_most a readingsWaiting 15
must "all are there" until_true 30 has_all c
stop "$collect_c"
umount "$LAB/c"
