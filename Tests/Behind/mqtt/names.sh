# Names with all that topics cannot hold, and two nodes of one name: topics of their own that stay the same.
site a b d
broker_up
collector_up "- {name: home, mqtt: {host: 127.0.0.1, home-assistant: true}}"
agent_up a
agent_up b
must "the second answers" until_true 20 answers b
sed -i 's/^name: b$/name: a/' "$LAB/b.yaml"
stop "$agent_b"
agent b
agent_up d "sensors:
  - {driver: command, run: [/bin/echo, \"1\"], every: 200ms, name: \"+/#\"}
  - {driver: command, run: [/bin/echo, \"2\"], every: 200ms, name: \"\$SYS/<b>'; DROP\"}"
must "the third answers" until_true 20 answers d
stop "$agent_d"
sed -i 's|^name: d$|name: "a/+/# $x {{ 1/0 }}"|' "$LAB/d.yaml"
agent d
topics() { retained_topics 'rivulet/lab/+/count'; }
must "both have topics" until_true 30 eval '[ "$(topics | wc -l)" = 2 ]'
must "it is told once" says_once "two nodes are called a:"
must "one of them is plain" eval 'topics | grep -qx rivulet/lab/a/count'
must "the other has the begin of its PeerID" eval "topics | grep -qE '^rivulet/lab/a~[a-z2-7]{5}/count$'"
plain() { retained 'rivulet/lab/a/count' | jq -r .peer; }
owner=$(plain)
stop "$broker" KILL
broker_again
must "after the broker" until_true 60 eval '[ "$(topics | wc -l)" = 2 ] && output_is home phase current'
must "the same has the plain one" test "$(plain)" = "$owner"
for id in a b; do agent_down $id; done
collector_down
collector_again
agent b
must "the other comes first after a restart" more_readings 30
agent a
must "readings of both" more_readings 60
must "topics are what they were" test "$(topics | wc -l)$(plain)" = "2$owner"
escaped='rivulet/lab/a%2F%2B%2F%23 %24x {{ 1%2F0 }}/'
must "the hostile node has its own level" until_true 20 eval 'retained_topics "rivulet/lab/+/+" | grep -qxF "$escaped%2B%2F%23"'
must "its other channel too" until_true 20 eval "retained_topics 'rivulet/lab/+/+' | grep -qF \"\$escaped%24SYS%2F<b>'; DROP\""
must "no topic has more levels" test -z "$(retained_topics 'rivulet/lab/+/+/+/#' | grep -v '/\$collector/')"
must "Home Assistant's topics hold identifiers only" \
    test -z "$(retained_topics 'homeassistant/#' | grep -vE '^homeassistant/sensor/rivulet_[a-z2-7]{26}/[A-Za-z0-9_-]+/config$')"
