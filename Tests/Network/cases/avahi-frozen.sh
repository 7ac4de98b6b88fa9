# A daemon that runs and answers nothing, at the start and later: it holds the loop up for one short call at
# most, and serves when it goes on. The same for a frozen D-Bus.
. Tests/Network/avahi.sh
host c a
lan 1 c a
lan 2 c a
config c collector
config a agent "$SENSOR"
bus a
avahi a
sleep 2
kill -STOP "$avahi_a"
collect c
agent a
must "readings" until_true 30 has_rows c a
must "the agent has noticed" until_true 30 says a 'no daemon; trying again$'
must "and was not held up for long" [ "$(member a worstLatenessMilliseconds)" -lt 1000 ]
kill -CONT "$avahi_a"
must "published once it goes on" until_true 40 says a 'published as "a"'

# Frozen again; now there is something to publish anew.
kill -STOP "$avahi_a"
ip -n "$NS-a" link set eth2 down
sleep 1
ip -n "$NS-a" link add link eth1 name eth3 type macvlan mode bridge
ip -n "$NS-a" addr add 10.77.1.9/24 dev eth3
ip -n "$NS-a" link set eth3 up
must "it notices again" until_true 30 grep -q "avahi: the daemon does not answer; trying again" "$LAB/agent_a.err"
must "readings meanwhile" more_rows c a 15
must "not held up for long" [ "$(member a worstLatenessMilliseconds)" -lt 1000 ]
kill -CONT "$avahi_a"
must "published again" until_true 60 says a 'published as "a"'

kill -STOP "$bus_a"
stop "$avahi_a" KILL
must "readings while D-Bus is frozen" more_rows c a 15
must "not held up by D-Bus" [ "$(member a worstLatenessMilliseconds)" -lt 1000 ]
