# Services with nobody behind them, with garbage or lies in their TXT record: counted, and no hindrance.
. Tests/Network/avahi.sh
host c a x
lan 1 c a x
for name in c a x; do
    bus $name
    avahi $name
done
config c collector "$ALONE"
config a agent "$ALONE
$SENSOR"
agent a
must "the agent runs" until_true 30 status a >/dev/null
own=$(member a peer)
sleep 2
lie="txtvers=1 peer=aaaaa-aaaaa-aaaaa-aaaaa-aaaaaa role=collector"
publish bare x "nothing at all" 4577
publish garbage x "garbage" 4577 txtvers=1 "peer=$(printf '\377\376')" port=4577 role= "=" "==" $'\001'
publish long x "too long" 4577 $(for i in $(seq 9); do printf "k$i=%0200d " $i; done)
publish port x "other port" 4577 $lie port=4578
publish version x "of the future" 4577 txtvers=2 peer=aaaaa-aaaaa-aaaaa-aaaaa-aaaaaa port=4577
publish nobody x "nobody there" 4577 $lie port=4577
publish stolen x "in our name" 4577 txtvers=1 "peer=$own" port=4577 role=collector
for i in $(seq 20); do
    publish "many$i" x $'evil\e[31m'" $i" $((5000 + i)) txtvers=1 "role=collector" "port=$((5000 + i))" \
        "peer=$(printf 'bb%03dbbbbbbbbbbbbbbbbbbbbb' "$i" | tr 0189 cdef | cut -c 1-25)a"
done
must "the agent sees them" until_true 40 says a '[3-9][0-9] services seen'
must "the liar without a node is told of" until_true 30 grep -q 'avahi: found collector "nobody there"' "$LAB/agent_a.err"
malformed() { [ "$(drops a service-malformed)" -ge 5 ] 2>/dev/null; }
must "what says nothing is counted" until_true 40 malformed
must "no control character in the log" [ -z "$(grep -P '\x1b' "$LAB/agent_a.err")" ]
must "nobody is believed" [ -z "$(grep -E 'neighbour|collector:' "$LAB/agent_a.err")" ]
must "our own PeerID elsewhere is no peer" [ -z "$(grep "avahi: .*$own" "$LAB/agent_a.err")" ]
collect c
must "the true collector is found all the same" until_true 40 connected a
must "readings" until_true 30 has_rows c a
must "nobody else has come" [ "$(grep -c ' neighbour ' "$LAB/collect_c.err")" = 1 ]
must "the loop was not held up" [ "$(member a worstLatenessMilliseconds)" -lt 1000 ]
