# An agent with Bluetooth only reaches a collector with UDP only, through a relay with both; the relay's
# controller is switched off for a while, and everything that was measured meanwhile arrives in the end.
# at most 600 s
. Tests/Lab/bluetooth.sh
host c
veth lab0 c 1
emulated 2
config c collector "links: {bluetooth: off}"
config b relay "links: {udp: {interfaces: [lab0]}, bluetooth: {adapter: \"${ADDRESSES[0]}\"}}"
only_bluetooth a agent 1 "$SENSOR"
collect c
agent_here b
agent_here a
must "readings through the relay" until_true 90 has_rows c a
must "over two hops" grep -q '"hops":2' "$LAB/collect_c.out"
power 0 off
# It is switched on again within seconds; the log keeps it.
must "the relay loses its controller" until_true 60 says agent_b "the controller was switched off"
power 0 on
recovered=$(milliseconds_until 90 links b 1) || fail "the relay is linked again"
measured "from the controller's power to a link: $recovered ms"
must "readings again" more_rows c a 90
must "nothing is missing in the end" until_true 90 has_all c
