# Every channel has a topic whose retained object is its newest reading; nodes and the collector say that they are
# there, and the broker says it when they are not.
site
broker_up
watch "$LAB/seen" -t 'rivulet/lab/a/+'
collector_up "- {name: home, mqtt: {host: 127.0.0.1}}"
agent_up a "sensors:
  - {driver: command, run: [/bin/sh, $LAB/count.sh], every: 200ms, name: count, unit: \"1\"}
  - {driver: command, run: [/bin/false], every: 200ms, name: broken, unit: Cel}"
cat >"$LAB/count.sh" <<SH
n=\$((\$(cat "$LAB/count" 2>/dev/null || echo 0) + 1))
echo \$n | tee "$LAB/count"
SH
must "readings" more_readings 40
must "the channel is there" until_true 60 retained_has rivulet/lab/a/count '.value > 3 and .node == "a"'
must "a null has its reason" until_true 60 retained_has rivulet/lab/a/broken '.value == null and (.reason | length) > 3'
must "the node is online" until_true 60 retained_is 'rivulet/lab/a/$availability' online
must "and described" until_true 60 retained_has 'rivulet/lab/a/$node' '.name == "a" and .role == "agent" and .seen > 0'
must "the collector is there" until_true 30 retained_is "$(collector_topic)" online
agent_down
must "the broker keeps the newest" until_true 60 is_newest count
must "every reading was published" becomes_same 60 keys published "$LAB/seen"
must "nothing was refused" output_is home refused 0
must "the node is offline" until_true 60 retained_is 'rivulet/lab/a/$availability' offline
collector_down KILL
must "the last will says that the collector is gone" until_true 60 retained_is "$(collector_topic)" offline
collector_again
must "it comes back" until_true 60 retained_is "$(collector_topic)" online
collector_down
must "and says goodbye" until_true 30 retained_is "$(collector_topic)" offline
