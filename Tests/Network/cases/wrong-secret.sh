# A node with another secret is refused, by name and with a counter; nobody else is harmed.
host c a b
lan 1 c a b
config c collector
config a agent "$SENSOR"
secret "$LAB/other"
SECRET=$LAB/other config b agent "$SENSOR
links: {udp: {peers: [\"10.77.1.1:4577\"]}}"
config c collector 'links: {udp: {port: 4577}}'
collect c
agent a
agent b
must "the right one gets in" until_true 30 has_rows c a
refused() { [ "$(drops b beacon-bad-proof)" -gt 0 ] || [ "$(drops b admission-secret)" -gt 0 ]; }
must "the wrong one counts a refusal" until_true 30 refused
must "no reading of the wrong one" [ "$(rows c b)" = 0 ]
must "the right one goes on" more_rows c a
