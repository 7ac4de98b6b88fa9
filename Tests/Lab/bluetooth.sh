# Sourced by the Bluetooth cases: nodes that share the first network namespace, each with a controller of
# its own, named by address because hciN is given in the order in which the emulator opens.
. Tests/Lab/guest.sh

# emulated NUMBER: controllers as they come, not powered: the agents have to do that.
emulated() {
    local index
    modprobe hci_vhci || not_run "this kernel has no module hci_vhci"
    start_here btvirt "${LAB_CACHE:-.build-lab}/btvirt" "-l$1"
    must "$1 controllers appear" until_true 20 [ -e "/sys/class/bluetooth/hci$(($1 - 1))" ]
    must "$1 controllers are ready" until_true 20 controllers_are "$1"
    for ((index = 0; index < $1; index++)); do ADDRESSES[index]=$(address_of "$index"); done
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

# links NAME NUMBER: the node's status shows so many Bluetooth links.
links() { "$BIN/rivulet" status --socket "$LAB/$1.sock" 2>/dev/null | grep -q "^bluetooth .* $2 link"; }

# bluetooth_state NAME TEXT: what the status says of Bluetooth.
bluetooth_state() {
    "$BIN/rivulet" status --socket "$LAB/$1.sock" 2>/dev/null | grep -q "^bluetooth .*$2"
}
