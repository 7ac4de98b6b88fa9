# Home Assistant restarts, forgets, and is told again; nodes that are renamed or gone for good leave nothing behind.
site
broker_up
collector_up "- {name: home, mqtt: {host: 127.0.0.1, home-assistant: true, forget: 60s}}"
agent_up
# All of it: twice the same.
told() {
    before=$(retained_topics 'homeassistant/#')
    [ -n "$before" ] && [ "$(retained_topics 'homeassistant/#')" = "$before" ]
}
must "it is told" until_true 60 told
home_assistant_up
must "Home Assistant finds what is retained" until_true 60 entity_is sensor.a_count '(.state | tonumber) > 0'
# Somebody cleans up too much.
for topic in $before; do in_host c mosquitto_pub -q 1 -r -n -t "$topic"; done
must "the entities are gone" until_true 60 eval '! entity_is sensor.a_count "true"'
stop "$hass"
sleep 1
start hass c "$HOMEASSISTANT/bin/hass" --skip-pip -c "$LAB/ha"
must "after its birth it is told again" until_true 120 entity_is sensor.a_count '(.state | tonumber) > 0'
must "of everything" until_true 60 eval '[ "$(retained_topics "homeassistant/#")" = "$before" ]'
stop "$agent_a"
sed -i 's/^name: a$/name: oven/' "$LAB/a.yaml"
agent a
must "a renamed node is the same device" until_true 60 registry_has devices \
    '[.[] | select(.manufacturer == "Rivulet")] | length == 1 and .[0].name == "oven"'
must "its old topics are gone" until_true 60 eval '[ -z "$(retained_topics "rivulet/lab/a/#")" ]'
must "the new ones are there" until_true 60 retained_has rivulet/lab/oven/count '.value > 0'
agent_down
must "a node that stays away is forgotten by the broker" until_true 120 eval '[ -z "$(retained_topics "rivulet/lab/oven/#")" ]'
must "and by Home Assistant" until_true 60 registry_has entities '[.[] | select(.platform == "mqtt")] | length == 0'
must "nothing of it is left" until_true 60 eval '[ -z "$(retained_topics "homeassistant/#")" ]'
must "Home Assistant complains about nothing" no_complaint
