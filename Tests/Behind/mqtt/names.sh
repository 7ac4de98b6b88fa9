# Names with all that topics cannot hold, and two nodes of one name: topics of their own that stay the same.
site a b d
broker_up
collector_up "- {name: home, mqtt: {host: 127.0.0.1, home-assistant: true}}"
agent_up a
agent_up b
must "the second answers" until_true 60 answers b
sed -i 's/^name: b$/name: a/' "$LAB/b.yaml"
stop "$agent_b"
agent b
agent_up d "sensors:
  - {driver: command, run: [/bin/echo, \"1\"], every: 200ms, name: \"+/#\"}
  - {driver: command, run: [/bin/echo, \"2\"], every: 200ms, name: \"\$SYS/<b>'; DROP\"}"
must "the third answers" until_true 60 answers d
stop "$agent_d"
sed -i 's|^name: d$|name: "a/+/# $x {{ 1/0 }}"|' "$LAB/d.yaml"
agent d
topics() { retained_topics 'rivulet/lab/+/count'; }
# The second one may have been there under its first name.
named() { [ "$(topics | sed -E 's|/a~[a-z2-7]{5}/|/a~/|' | xargs)" = "rivulet/lab/a/count rivulet/lab/a~/count" ]; }
must "one of them is plain, the other has the begin of its PeerID" until_true 60 named
must "it is told once" until_true 30 says_once "two nodes are called a:"
plain() { retained 'rivulet/lab/a/count' | jq -r .peer; }
owner=$(plain)
stop "$broker" KILL
broker_again
must "after the broker" until_true 90 eval '[ "$(topics | wc -l)" = 2 ] && output_is home phase current'
must "the same has the plain one" test "$(plain)" = "$owner"
for id in a b; do agent_down $id; done
collector_down
collector_again
# anew NUMBER: so many nodes have published their counts since then.
since=$(date -u +%Y-%m-%dT%H:%M:%S.%3N)
anew() {
    [ "$(in_host c mosquitto_sub -W 3 --retained-only -t 'rivulet/lab/+/count' 2>/dev/null |
        jq -r --arg since "$since" 'select(.time > $since) | .peer' | sort -u | wc -l)" = "$1" ]
}
agent b
must "the other comes first after a restart" until_true 60 anew 1
agent a
must "then both" until_true 60 anew 2
must "topics are what they were" test "$(topics | wc -l)$(plain)" = "2$owner"
escaped='rivulet/lab/a%2F%2B%2F%23 %24x {{ 1%2F0 }}/'
must "the hostile node has its own level" until_true 60 eval 'retained_topics "rivulet/lab/+/+" | grep -qxF "$escaped%2B%2F%23"'
must "its other channel too" until_true 60 eval "retained_topics 'rivulet/lab/+/+' | grep -qF \"\$escaped%24SYS%2F<b>'; DROP\""
must "no topic has more levels" test -z "$(retained_topics 'rivulet/lab/+/+/+/#' | grep -v '/\$collector/')"
must "Home Assistant's topics hold identifiers only" \
    test -z "$(retained_topics 'homeassistant/#' | grep -vE '^homeassistant/sensor/rivulet_[a-z2-7]{26}/[A-Za-z0-9_-]+/config$')"
