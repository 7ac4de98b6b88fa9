# A board dies while no collector is there to hear it: after a minute the broker has it as offline, and its device is dead.
site
broker_up
host_application "$LAB/seen"
collector_up "- {name: home, mqtt: {host: 127.0.0.1}}
- {name: plant, mqtt: {host: 127.0.0.1, sparkplug: {group: plant, edge: gate}}}"
agent_up
must "the node is online" until_true 60 retained_is 'rivulet/lab/a/$availability' online
must "the device is born" until_true 60 has_messages "$LAB/seen" DBIRTH 1
collector_down KILL
stop "$agent_a" KILL
collector_again
must "at first it may still come" retained_is 'rivulet/lab/a/$availability' online
must "then it is offline" until_true 120 retained_is 'rivulet/lab/a/$availability' offline
must "what was born dies" eval '[ "$(count_messages "$LAB/seen" DBIRTH)" -le 1 ] || until_true 60 has_messages "$LAB/seen" DDEATH 1'
agent_up
must "and it can come back" until_true 60 retained_is 'rivulet/lab/a/$availability' online
