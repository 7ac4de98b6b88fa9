# The collector starts in 1970 and is set right later: what it stored before is dated anew. The clock is read
# once a minute; a jump that the kernel tells of is seen at once, but this one is only pretended.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
pretend_clock
jump -$(date +%s)
collect c
unset LD_PRELOAD
agent a
must "readings" until_true 30 has_rows c a 3
first() { "$BIN/rivulet" query --config "$LAB/c.yaml" --format csv | sed -n 2p; }
must "the first is of 1970" until_true 30 eval 'first | grep -q 1970-01-01T'
jump 0
today() { first | grep -qE "$(date -u +%Y-%m-%d)T|$(date -u -d '1 min ago' +%Y-%m-%d)T"; }
must "the first is of today" until_true 90 today
