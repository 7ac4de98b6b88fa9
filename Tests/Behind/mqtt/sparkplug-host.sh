# While the host application is offline, readings wait in the store; then they come, none is missing.
site
broker_up
host_application "$LAB/seen"
state() { in_host c mosquitto_pub -r -q 1 -t spBv1.0/STATE/scada -m "{\"online\":$1,\"timestamp\":$(date +%s)000}"; }
collector_up "- {name: plant, mqtt: {host: 127.0.0.1, sparkplug: {group: plant, edge: gate, host: scada}}}"
agent_up
must "without a host application nothing is sent" until_true 60 says "plant.*host application is offline"
must "readings" more_readings 30
must "none of them was" test "$(count_messages "$LAB/seen" DDATA)" = 0
state true
must "then they come" until_true 90 has_messages "$LAB/seen" DDATA 3
state false
must "the edge node says that it dies" until_true 60 has_messages "$LAB/seen" NDEATH 1
must "readings meanwhile" more_readings 30
state true
must "it is born again" until_true 90 has_messages "$LAB/seen" NBIRTH 2
agent_down
must "nothing waits" until_true 60 output_is plant waiting 0
# What the broker has taken may be on its way to the application yet.
all_have_come() {
    decoded "$LAB/seen" | grep -P '/DDATA/' | grep -oE 'alias: [0-9]+ timestamp: [0-9]+' | sort -u >"$LAB/metrics.out"
    [ "$(wc -l <"$LAB/metrics.out")" -ge "$(readings)" ]
}
must "no reading is missing" until_true 120 all_have_come
