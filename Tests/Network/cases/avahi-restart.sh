# The daemon is restarted, frozen, killed, and D-Bus with it: readings go on meanwhile, and afterwards the
# agent is published again.
. Tests/Network/avahi.sh
host c a
lan 1 c a
for name in c a; do
    bus $name
    avahi $name
done
config c collector "$ALONE"
config a agent "$ALONE
$SENSOR"
collect c
agent a
must "readings before" until_true 40 has_rows c a
must "published" until_true 30 says a 'published as "a"'
published() { grep -c 'avahi: published' "$LAB/agent_a.err"; }
published_more_than() { [ "$(published)" -gt "$1" ]; }

before=$(published)
stop "$avahi_a"
avahi a
must "published after a restart" until_true 30 published_more_than "$before"
must "seen by the other's daemon" until_true 30 shows c '^=;eth1;IPv4;a;'
must "who was lost is found again" until_true 30 says a '[1-9][0-9]* services? seen'

kill -STOP "$avahi_a"
must "readings while the daemon is frozen" more_rows c a 15
must "the loop was not held up" [ "$(member a worstLatenessMilliseconds)" -lt 1000 ]
kill -CONT "$avahi_a"

before=$(published)
stop "$avahi_a" KILL
must "the agent notices" until_true 30 says a 'no daemon; trying again$'
must "readings while there is no daemon" more_rows c a 15
stop "$bus_a" KILL
must "readings while there is no D-Bus" more_rows c a 15
sleep 3
must "still connected" connected a
bus a
avahi a
must "published again" until_true 40 published_more_than "$before"
must "readings in the end" more_rows c a 15
must "one channel all the time" [ "$(grep -c ' neighbour c at' "$LAB/agent_a.err")" = 1 ]
