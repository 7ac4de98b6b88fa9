# The wall clocks of both sides jump, forward and back: while they shake hands, and while readings flow.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
pretend_clock
collect c
agent a
unset LD_PRELOAD
# Some tens of jumps within the first second: some of them fall into the handshake.
for _ in $(seq 20); do
    jump 86400
    jump -172800
done
jump 0
must "connected all the same" until_true 30 connected a
must "readings" until_true 30 has_rows c a
for offset in 86400 -172800 0; do
    jump "$offset"
    must "readings after a jump to $offset s" more_rows c a 30
    must "still connected after a jump to $offset s" connected a
done
# Told in the rows' times: nothing is shown as of yesterday or tomorrow for longer than the jump lasted.
must "the collector still runs" status c
must "no channel was lost" [ "$(drops a handshake-timeout)" = 0 ]
