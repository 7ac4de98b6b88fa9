# Each fsync takes two seconds, at the collector's store and at the agent's spool: the logic threads notice
# nothing, nobody loses a neighbour, and everything arrives.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR
journal: {spool-after: 3s}"
gcc -shared -fPIC -o "$LAB/slow_disk.so" Tests/Network/slow_disk.c
export LD_PRELOAD=$LAB/slow_disk.so SLOW_DISK=$LAB/slow
collect c
agent a
unset LD_PRELOAD
watch_machine
must "readings" until_true 30 has_rows c a 2
touch "$LAB/slow"
sleep 6
must "the table goes on" more_rows c a
must "the agent spools meanwhile" until_true 30 at_least a spoolBytesWritten 1
sleep 3
# No timer, and so no hello, was late by over 50 ms. Of a machine that is busy itself nothing can be said: the
# longest wait of a process that only sleeps is taken off.
idle=$(machine_late)
for name in a c; do
    echo "$name: worst lateness $(member $name worstLatenessMilliseconds) ms, of the machine $idle ms"
    must "no hello of $name is late by over 50 ms" at_most $name worstLatenessMilliseconds $((50 + idle))
done
must "no neighbour was lost" bash -c "! grep -q 'does not answer' '$LAB'/*.err"
rm "$LAB/slow"
must "the agent is rid of its readings" until_true 40 at_most a readingsWaiting 15
must "all are there" until_true 30 has_all c
