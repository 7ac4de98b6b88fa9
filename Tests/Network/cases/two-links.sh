# A pair on two links loses one of them, with the carrier and then in silence; the channel goes on over the
# other, without a handshake and without a gap that anybody would notice.
host c a
lan 1 c a
lan 2 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 30 has_rows c a
began=$(member a openedAtMilliseconds)
must "both links proved" until_true 30 at_least a links 2

used() { sed -n 's/.*neighbour c \(now \)\?at .* on \(eth[12]\)$/\2/p' "$LAB/agent_a.err" | tail -n 1; }
other() { [ "$1" = eth1 ] && echo eth2 || echo eth1; }
uses() { [ "$(used)" = "$1" ]; }
first=$(used)
ip -n "$NS-a" link set "$first" down
must "over the other link" until_true 20 uses "$(other "$first")"
must "readings after the carrier was lost" more_rows c a 20
ip -n "$NS-a" link set "$first" up
must "both links again" until_true 40 at_least a links 2

# Silence: the switch of the link in use forgets everything, in both directions.
second=$(used)
ip -n "$NS-sw${second#eth}" link set br0 down
must "over the first link again" until_true 20 uses "$first"
must "readings after the silence" more_rows c a 20
must "without a new channel" [ "$(member a openedAtMilliseconds)" = "${began:-none}" ]
must "never lost" [ "$(grep -c 'no longer answers' "$LAB/agent_a.err")" = 0 ]
