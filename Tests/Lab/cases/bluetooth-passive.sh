# An agent with a good way over Ethernet scans rarely and passively, and still hears who advertises.
# at most 600 s
. Tests/Lab/bluetooth.sh
host c
veth lab0 c 1
emulated 2
config c collector "links: {bluetooth: off}"
config a agent "links: {udp: {interfaces: [lab0]}, bluetooth: {adapter: \"${ADDRESSES[0]}\"}}
$SENSOR"
collect c
agent_here a
must "readings" until_true 90 has_rows c a
content() { status a | grep '"content":true' >/dev/null; }
must "other links suffice" until_true 90 content
start_here btmon btmon -i hci0
# Somebody of another network, who never connects: service data with our UUID, and a tag of zeros.
mgmt --index 1 power on >>"$LAB/mgmt.out"
mgmt --index 1 add-adv -c -d "1e214db9e3a5c0211f8d624e74656c766972$(printf '%026d' 0)" -n 1 >>"$LAB/mgmt.out"
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
