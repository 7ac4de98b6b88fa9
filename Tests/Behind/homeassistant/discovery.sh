# Home Assistant shows each node as a device, each channel as an entity, with its own words; and knows who is there.
site
broker_up
home_assistant_up
collector_up "- {name: home, mqtt: {host: 127.0.0.1, home-assistant: true}}"
agent_up a "labels: {room: Kitchen}
sensors:
  - {driver: command, run: [/bin/echo, \"21.50\"], every: 300ms, name: heat, unit: Cel}
  - {driver: command, run: [/bin/echo, \"1013.2\"], every: 300ms, name: air, unit: hPa}
  - {driver: command, run: [/bin/echo, \"3.5\"], every: 300ms, name: meter, unit: kWh}
  - {driver: command, run: [/bin/echo, \"12\"], every: 300ms, name: rain today, unit: mm}
  - {driver: command, run: [/bin/echo, \"87\"], every: 300ms, name: battery, unit: \"%\"}
  - {driver: command, run: [/bin/echo, \"12\"], every: 300ms, name: pm2.5, unit: ug/m3}
  - {driver: command, run: [/bin/false], every: 300ms, name: broken, unit: Cel}"
must "a temperature" until_true 90 entity_is sensor.a_heat '.state == "21.5" and .attributes.unit_of_measurement == "°C"
    and .attributes.device_class == "temperature" and .attributes.state_class == "measurement"'
must "a pressure" until_true 60 entity_is sensor.a_air '.state == "1013.2" and .attributes.unit_of_measurement == "hPa"'
must "energy adds up" until_true 60 entity_is sensor.a_meter '.attributes.device_class == "energy" and .attributes.state_class == "total_increasing"'
must "rain" until_true 60 entity_is sensor.a_rain_today '.attributes.device_class == "precipitation"'
must "dust" until_true 60 entity_is sensor.a_pm2_5 '.attributes.device_class == "pm25"
    and (.attributes.unit_of_measurement | . == "\u00b5g/m³" or . == "\u03bcg/m³")'
must "without a value it is unknown" until_true 60 entity_is sensor.a_broken '.state == "unknown"'
must "a device with model and version" until_true 60 registry_has devices 'any(.[]; .name == "a" and .manufacturer == "Rivulet"
    and (.sw_version | length) > 0 and (.identifiers[0][1] | startswith("rivulet_")))'
must "in its room" until_true 60 registry_has areas 'any(.[]; .name == "Kitchen")'
must "a battery is diagnostic" until_true 60 registry_has entities 'any(.[]; .entity_id == "sensor.a_battery" and .entity_category == "diagnostic")'
for name in link hops last_seen clock; do
    must "$name is diagnostic" until_true 60 registry_has entities "any(.[]; .entity_id == \"sensor.a_$name\" and .entity_category == \"diagnostic\")"
done
must "when it was last seen" until_true 60 entity_is sensor.a_last_seen '.state | startswith("20")'
config() { retained "homeassistant/sensor/$(retained_topics 'homeassistant/#' | sed -n 's|.*/\(rivulet_[a-z2-7]*\)/c-heat/.*|\1|p')/c-heat/config"; }
must "states expire" until_true 60 eval 'config | jq -e ".expire_after == 60"'
agent_down
must "a node that is gone is unavailable" until_true 90 entity_is sensor.a_heat '.state == "unavailable"'
must "when it was seen stays" entity_is sensor.a_last_seen '.state | startswith("20")'
agent a
must "it comes back" until_true 60 entity_is sensor.a_heat '.state == "21.5"'
collector_down KILL
must "without a collector all are unavailable" until_true 60 entity_is sensor.a_last_seen '.state == "unavailable"'
collector_again
must "until it is back" until_true 60 entity_is sensor.a_heat '.state == "21.5"'
must "Home Assistant complains about nothing" no_complaint
must "its tables know all our words" ha classes Tests/Behind/homeassistant/classes.tsv
