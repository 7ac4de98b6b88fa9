# What people read: the log and `rivulet status` on an agent, a relay and a collector, beside a node with
# another secret, one that refuses encryption, a sensor that fails, and an agent two hops away that dies.
host c r a b e
lan 1 c r b e
lan 2 r a b
cat >"$LAB/bad" <<'SH'
#!/bin/sh
echo "no such bus" >&2
exit 3
SH
chmod +x "$LAB/bad"
config c collector
config r relay
config a agent "sensors:
  - {driver: command, run: [/bin/echo, '21.5'], every: 200ms, name: bench, unit: Cel}
  - {driver: command, run: [$LAB/bad], every: 200ms, name: dead}"
secret "$LAB/other"
SECRET=$LAB/other config b agent "$SENSOR"
config e agent "encryption: none
$SENSOR"
collect c
agent r
agent a
agent b
agent e
must "readings over the relay" until_true 30 has_rows c a

# says NAME PATTERN [ARGUMENT…]: a line of the status for people.
says() {
    local name=$1 pattern=$2
    shift 2
    "$BIN/rivulet" status --socket "$LAB/$name.sock" "$@" 2>/dev/null | grep -Eq "$pattern"
}
# told FILE PATTERN NUMBER: so many lines of a log.
told() { [ "$(grep -Ec "$2" "$LAB/$1.err")" = "$3" ]; }
at_failure() {
    local name
    for name in a r c; do "$BIN/rivulet" status -v --socket "$LAB/$name.sock"; done
}

id='[a-z2-7]{5}-[a-z2-7]{5}'
version='[0-9]+\.[0-9]+\.[0-9]+'
must "the agent's own line" until_true 30 says a "^a +$id +agent +this node +online +$version$"
must "its relay" until_true 30 says a "^r +$id +relay +direct eth2 +online +$version$"
must "a collector has no collector" bash -c "! '$BIN/rivulet' status --socket '$LAB/c.sock' | grep '^collector  '"
must "its collector" until_true 30 says a "^c +$id +collector +via r, 2 hops +online +$version$"
must "the relay's agent" until_true 30 says r "^a +$id +agent +direct eth2 +online +$version$"
must "the relay's collector" until_true 30 says r "^c +$id +collector +direct eth1 +online"
must "the collector's agent" until_true 30 says c "^a +$id +agent +via r, 2 hops +online +$version$"
must "no counters" bash -c "! '$BIN/rivulet' status --socket '$LAB/a.sock' | grep -q '^dropped'"
must "counters when asked" says a '^dropped +beacon-bad-proof: [0-9]+' -v

for name in a r c; do
    must "$name says who has another secret" until_true 30 \
        says $name "^refused +node $id at .* on eth[12] has another secret"
done
must "the agent's log says it once" told agent_a 'has another secret' 1
must "the collector's log says it once" told collect_c 'has another secret' 1
must "the cause is in the JSON" [ "$(member a cause)" = other-secret ]
must "the collector names who refuses encryption" until_true 30 \
    says c "^refused +node $id at .*has .encryption: none., and here encryption is required"
must "who refuses it says so too" until_true 30 \
    says e "^refused +node $id at .* requires encryption"

must "the sensor that fails" until_true 30 says a \
    '^sensor +command dead: no value \(command-failed\): exit status 3: no such bus; never had one$'
must "one of two is good" says a '^sensors +2, 1 failing$'
must "its log says it once" told agent_a 'command dead: no value .*exit status 3: no such bus' 1
must "the sensors in the JSON" grep -q '"state":"failing".*"fault":"exit status 3: no such bus"' <(status a)

stop "$agent_a" KILL
must "the collector's log says that it vanished" until_true 40 told collect_c 'out of reach: a \(was via r\)' 1
must "the status says when" until_true 30 says c "^a +$id +agent +was via r +[0-9]+ s ago +$version$"
must "it is not online in the JSON" grep -q '"name":"a","role":"agent","online":false' <(status c)
agent a
must "it is back" until_true 40 says c "^a +$id +agent +via r, 2 hops +online"
must "and that is told" until_true 30 told collect_c 'in reach again: a \(via r\)' 1
