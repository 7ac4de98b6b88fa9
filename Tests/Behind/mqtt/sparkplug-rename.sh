# The collector calls a node otherwise: the edge node is born again, and then the device under its new name alone, once.
site
broker_up
host_application "$LAB/seen"
outputs="- {name: plant, mqtt: {host: 127.0.0.1, sparkplug: {group: plant, edge: gate}}}"
collector_up "$outputs" "agents: [{node: a, rename: one}]"
agent_up
must "data" until_true 60 has_messages "$LAB/seen" DDATA 10
must "the device" grep -q '^spBv1.0/plant/DBIRTH/gate/one' "$LAB/seen"
collector_config "$outputs" "agents: [{node: a, rename: two}]"
lines=$(wc -l <"$LAB/seen")
reload
must "another edge node" until_true 60 has_messages "$LAB/seen" NBIRTH 2
data() { tail -n "+$((lines + 1))" "$LAB/seen" | grep -c '^spBv1.0/plant/DDATA/gate/two'; }
must "data under the new name" until_true 60 eval '[ "$(data)" -ge 10 ]'
tail -n "+$((lines + 1))" "$LAB/seen" | sed '1,/NBIRTH/d' >"$LAB/after"
must "nothing under the former name" eval '! grep -q gate/one "$LAB/after"'
must "born once" [ "$(grep -c /DBIRTH/ "$LAB/after")" = 1 ]
