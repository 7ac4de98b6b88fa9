# The agent's interface vanishes and comes back under the same name.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 30 has_rows c a
ip -n "$NS-a" link set eth1 down
sleep 2
ip -n "$NS-a" link set eth1 up
must "readings after" more_rows c a 20
# It is taken away altogether, and another one of its name comes.
ip -n "$NS-a" link del eth1
sleep 1
ip link add "v$$x19" type veth peer name eth1 netns "$NS-a"
ip link set "v$$x19" netns "$NS-sw1"
ip -n "$NS-sw1" link set "v$$x19" master br0 up
ip -n "$NS-a" addr add 10.77.1.2/24 dev eth1
ip -n "$NS-a" link set eth1 up
must "readings over the new one" more_rows c a 20
must "the agent names it" grep -q "eth1: no longer in use" "$LAB/agent_a.err"
