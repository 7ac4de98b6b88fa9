# An agent with a good way over Ethernet scans rarely and passively, and still hears who has Bluetooth only.
# at most 240 s
. Tests/Lab/bluetooth.sh
host c
veth lab0 c 1
emulated 2
config c collector "links: {bluetooth: off}"
config a agent "links: {udp: {interfaces: [lab0]}, bluetooth: {adapter: \"${ADDRESSES[0]}\"}}
$SENSOR"
collect c
agent_here a
must "readings" until_true 40 has_rows c a
content() { status a | grep -q '"content":true'; }
must "other links suffice" until_true 30 content
start_here btmon btmon -i hci0
only_bluetooth b agent 1 "$SENSOR"
agent_here b
must "readings of who has Bluetooth only" until_true 60 has_rows c b
# What the kernel reports while the last scan parameters were passive ones.
heard_passively() {
    awk -v other="${ADDRESSES[1]}" '
        /LE Set Scan Parameters/ || /LE Set Extended Scan Parameters/ { waiting = 1 }
        waiting && /Type: Passive/ { passive = 1; waiting = 0 }
        waiting && /Type: Active/ { passive = 0; waiting = 0 }
        passive && /Device Found/ { found = 1; next }
        found && index($0, other) { hit = 1 }
        /^[@<>]/ && !/Device Found/ { found = 0 }
        END { exit !hit }
    ' "$LAB/btmon.out"
}
must "it is heard by a passive scan" until_true 90 heard_passively
