# Births of 1,024 channels, two in turn, while the store refuses: what waits for the store is bounded.
. Tests/Hostile/hostile.sh
host c x
lan 1 c x
mkdir -p "$LAB/c"
mount -t tmpfs -o size=300k rivulet-test "$LAB/c"
config c collector "$FIXED"
collect c
must "the collector runs" until_true 30 up c
sleep 1
head -c 400000 /dev/zero >"$LAB/c/filler" 2>/dev/null
attack flood x births "target=10.77.1.1:$PORT" rate=20000000 seconds=12
must "the member is in" until_true 20 member_up flood
must "it ends" attacked flood
measured "$(tail -n 2 "$LAB/flood.out" | tr '\n' ' ')"
measured "the collector's memory: $(memory_peak "$collect_c") kB"
must "the collector is under 100 MB" at_most_kilobytes "$collect_c" 100000
must "it still answers" up c
stop "$collect_c" KILL
umount "$LAB/c"
