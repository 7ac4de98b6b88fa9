# Sparkplug B: births before data, one number after the other, late data marked as such, deaths, rebirth on command;
# every payload is one that the protocol's description reads.
site
broker_up
host_application "$LAB/seen"
# Beside topics of our own, at the same broker.
collector_up "- {name: plant, mqtt: {host: 127.0.0.1, sparkplug: {group: plant, edge: gate}}}
- {name: home, mqtt: {host: 127.0.0.1}}"
agent_up
must "data" until_true 60 has_messages "$LAB/seen" DDATA 10
must "the edge node was born once, first of all" eval 'head -n 1 "$LAB/seen" | grep -q "^spBv1.0/plant/NBIRTH/gate" && [ "$(count_messages "$LAB/seen" NBIRTH)" = 1 ]'
births=$(messages "$LAB/seen" DBIRTH | head -n 1)
must "the device is the node" grep -q "^spBv1.0/plant/DBIRTH/gate/a	" <<<"$births"
must "its birth names its channels with aliases" grep -qE 'name: "bench" alias: [0-9]+ timestamp: [0-9]+ datatype: 10' <<<"$births"
must "and units" grep -qE 'name: "bench" [^}]*keys: "engUnit".* type: 12 string_value: "\\302\\260C"' <<<"$births"
must "data has aliases only" eval '! messages "$LAB/seen" DDATA | grep -E "name:|datatype:"'
must "NBIRTH can be told to come again" grep -q 'name: "Node Control/Rebirth" timestamp: [0-9]* datatype: 11 boolean_value: false' \
    <<<"$(messages "$LAB/seen" NBIRTH)"
command_edge spBv1.0/plant/NCMD/gate 'timestamp: 1 metrics { name: "Node Control/Rebirth" boolean_value: true }'
must "it comes again on command" until_true 60 has_messages "$LAB/seen" NBIRTH 2
must "with its devices" until_true 60 has_messages "$LAB/seen" DBIRTH 2
agent_down
must "the device dies with its node" until_true 60 has_messages "$LAB/seen" DDEATH 1
must "nothing waits" until_true 60 output_is plant waiting 0
must "two outputs are two clients of the broker" eval '! grep "already connected" "$LAB/broker.err"'
# What the broker has taken may be on its way to the application yet.
all_have_come() {
    decoded "$LAB/seen" >"$LAB/decoded"
    [ "$(grep -P '/DDATA/' "$LAB/decoded" | grep -o 'metrics {' | wc -l)" -ge "$(readings)" ]
}
must "every reading was sent" until_true 120 all_have_come
must "everything could be read" eval '! grep -qP "\t$" "$LAB/decoded"'
grep -v NDEATH "$LAB/decoded" | grep -v NCMD | grep -oE 'seq: [0-9]+' | awk '
    NR > 1 && $2 != 0 && $2 != (last + 1) % 256 { print "after", last, $2; wrong = 1 }
    { last = $2 }
    END { exit wrong }' >"$LAB/gaps.out"
must "the numbers are without a gap" test ! -s "$LAB/gaps.out"
before=$(count_messages "$LAB/seen" NBIRTH)
collector_down KILL
must "the last will is the death certificate" until_true 60 has_messages "$LAB/seen" NDEATH 1
number() { grep -oE 'name: "bdSeq"[^}]*long_value: [0-9]+' | grep -oE '[0-9]+$' | tail -n 1; }
must "with the number of the birth" test "$(messages "$LAB/seen" NDEATH | number)" = "$(messages "$LAB/seen" NBIRTH | number)"
collector_again
must "it is born again" until_true 60 has_messages "$LAB/seen" NBIRTH $((before + 1))
collector_down
must "and dies in order" until_true 30 has_messages "$LAB/seen" NDEATH 2
