# Without beacons, through Avahi alone: the agent finds the collector and readings arrive. avahi-browse shows
# both with what the TXT record says; status tells; who leaves is lost.
. Tests/Network/avahi.sh
host c a d
lan 1 c a d
for name in c a d; do
    bus $name
    avahi $name
done
config c collector "$ALONE"
config a agent "$ALONE
$SENSOR"
config d agent "links: {udp: {beacon: false}, avahi: off}
$SENSOR"
collect c
agent a
agent d
taken=$(milliseconds_until 40 connected a) || fail "the agent has a collector"
measured "from the start to a collector found by Avahi: $taken ms"
must "readings in the table" until_true 30 has_rows c a
must "who has Avahi switched off has none" [ "$(rows c d)" = 0 ]
peer=$(member a peer)
port=$(member a port)
# It prints the last pair first.
must "avahi-browse shows the agent over IPv4" \
    until_true 30 shows c "^=;eth1;IPv4;a;.*;10\.77\.1\.2;$port;.*\"role=agent\" \"port=$port\" \"peer=$peer\" \"txtvers=1\""
must "and over IPv6" until_true 30 shows c "^=;eth1;IPv6;a;.*;$port;.*\"peer=$peer\""
must "and the collector" until_true 30 shows a '^=;eth1;IPv4;c;.*"role=collector"'
must "not who has it switched off" [ -z "$(browse c | grep '^=;eth1;IPv4;d;')" ]
must "status says so" until_true 30 says a 'published as "a", [0-9]+ services seen'
must "the log says who was found" grep -qE 'avahi: (found|changed) collector "c", .* at .*10\.77\.1\.1:' "$LAB/agent_a.err"
must "the JSON names the peer" grep -q "\"avahi\":{\"state\":.*\"peer\":\"$(member c peer)\"" <<<"$(status a)"
stop "$agent_a"
must "who leaves is lost" until_true 30 grep -q 'avahi: lost agent "a"' "$LAB/collect_c.err"
must "and no longer shown" until_true 30 eval '! shows c "^=;eth1;IPv4;a;"'
