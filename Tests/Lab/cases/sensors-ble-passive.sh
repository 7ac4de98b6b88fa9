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
start_here btmon btmon -i hci0
sleep 1
# BTHome, unencrypted: 25.06 °C, 50.55 %RH (github.com/Bluetooth-Devices/bthome-ble,
# test_bthome_temperature_humidity).
mgmt --index 1 power on >>"$LAB/mgmt.out"
mgmt --index 1 add-adv -c -d 0a16d2fc4002ca0903bf13 1 >>"$LAB/mgmt.out"
shows() { grep -F "\"channel\":\"${ADDRESSES[1]}.$1\"" "$LAB/collect_c.out" | grep -q "$2"; }
must "its temperature is in the table" until_true 90 shows temperature '"last":25.06'
must "and its humidity" until_true 60 shows humidity '"last":50.55'
must "there was no active scan" [ "$(grep -c 'Type: Active' "$LAB/btmon.out")" = 0 ]
# monitors NUMBER: so many advertisement monitors are set in the kernel.
monitors() { mgmt --index 0 monitor.features | grep -q "Handles list with $1 item"; }
must "the monitor is there" until_true 60 monitors 1
stop "$agent_a"
must "and gone with the agent" until_true 60 monitors 0
if powered 0; then fail "the agent left its controller on"; fi
