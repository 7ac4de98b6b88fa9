# An agent that has its collector over Ethernet hears sensors by lasting passive reception alone: its
# controller scans actively no more. Those that are found are named by their addresses. At the end
# the controller is as it was found.
# at most 600 s
. Tests/Lab/bluetooth.sh
host c
veth lab0 c 1
emulated 2
config c collector "links: {bluetooth: off}"
config a agent "links: {udp: {interfaces: [lab0]}, bluetooth: {adapter: \"${ADDRESSES[0]}\"}}
sensors: [{driver: ble, every: 1s}]
report: {wait: 0s}"
collect c
agent_here a
content() { status a | grep '"content":true' >/dev/null; }
must "other links suffice" until_true 90 content
# The first scan of the start is over.
sleep 8
# BTHome, unencrypted: 25.06 °C, 50.55 %RH (github.com/Bluetooth-Devices/bthome-ble,
# test_bthome_temperature_humidity).
mgmt --index 1 power on >>"$LAB/mgmt.out"
mgmt --index 1 add-adv -c -d 0a16d2fc4002ca0903bf13 1 >>"$LAB/mgmt.out"
shows() { grep -F "\"channel\":\"${ADDRESSES[1]}.$1\"" "$LAB/collect_c.out" | grep -q "$2"; }
must "its temperature is in the table" until_true 90 shows temperature '"last":25.06'
must "and its humidity" until_true 60 shows humidity '"last":50.55'
# An agent that loses its collector, as on a busy machine, scans again until it has one: that look does not count.
losses() { grep -c "no collector in reach" "$LAB/agent_a.err"; }
looked() {
    local before
    before=$(losses)
    until_true 30 content || return 1
    sleep 8
    start_here btmon btmon -i hci0
    sleep 12
    stop "$btmon"
    [ "$(losses)" = "$before" ]
}
must "ten seconds with a collector" until_true 180 looked
must "advertisements are heard in them" grep -q 'Advertising Report\|Monitor Device Found' "$LAB/btmon.out"
must "there was no active scan" [ "$(grep -c 'Type: Active' "$LAB/btmon.out")" = 0 ]
# monitors NUMBER: so many advertisement monitors are set in the kernel.
monitors() { mgmt --index 0 monitor.features | grep -q "Handles list with $1 item"; }
must "the monitor is there" until_true 60 monitors 1
stop "$agent_a"
must "and gone with the agent" until_true 60 monitors 0
if powered 0; then fail "the agent left its controller on"; fi
