# Sourced by the Bluetooth cases: nodes that share the first network namespace, each with a controller of
# its own, named by address because hciN is given in the order in which the emulator opens.
. Tests/Lab/guest.sh

# emulated NUMBER: controllers without power: to give them that is the agents' work. KIND=-B: BR/EDR only.
emulated() {
    local index
    modprobe hci_vhci || not_run "this kernel has no module hci_vhci"
    emulator "$1" "${KIND:-}"
    for ((index = 0; index < $1; index++)); do
        ADDRESSES[index]=$(address_of "$index")
        mgmt --index $index le on >>"$LAB/mgmt.out"
    done
}

# only_bluetooth NAME ROLE INDEX [LINES]: a node without UDP, at the controller INDEX.
only_bluetooth() {
    config "$1" "$2" "links: {udp: off, bluetooth: {adapter: \"${ADDRESSES[$3]}\"}}
${4:-}"
}

# agent_here NAME, collect_here NAME: as `agent` and `collect`, in the first network namespace.
agent_here() { start_here "agent_$1" "$BIN/rivulet-agent" --config "$LAB/$1.yaml"; }

collect_here() {
    start_here "collect_$1" "$BIN/rivulet" collect --config "$LAB/$1.yaml" --format json --every 1s
}

# bluetooth_pair: a collector c at hci0 and an agent a at hci1 that have nothing else in common, running.
bluetooth_pair() {
    emulated 2
    only_bluetooth c collector 0
    only_bluetooth a agent 1 "$SENSOR"
    collect_here c
    agent_here a
}

# links NAME NUMBER: the node's status shows so many Bluetooth links.
links() { "$BIN/rivulet" status --socket "$LAB/$1.sock" 2>/dev/null | grep "^bluetooth .* $2 link" >/dev/null; }

# bluetooth_state NAME TEXT: what the status says of Bluetooth.
bluetooth_state() {
    "$BIN/rivulet" status --socket "$LAB/$1.sock" 2>/dev/null | grep "^bluetooth .*$2" >/dev/null
}

# veth NAME HOST NUMBER: an interface NAME here, and ethNUMBER in the host's namespace, 10.77.NUMBER.1 and .2.
veth() {
    # An earlier case of this boot may have left it.
    ip link del "$1" 2>/dev/null
    ip link add "$1" type veth peer name "eth$3" netns "$NS-$2"
    ip addr add "10.77.$3.1/24" dev "$1"
    ip -n "$NS-$2" addr add "10.77.$3.2/24" dev "eth$3"
    ip link set "$1" up
    ip -n "$NS-$2" link set "eth$3" up
}

# says NAME TEXT: the node's log has this line.
says() { grep -qF "$2" "$LAB/$1.err"; }
