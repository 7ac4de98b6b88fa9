# Sourced by the network tests, the demo and the benchmarks: network namespaces with nodes in them.
# Everything lives below $LAB, a temporary folder, and in namespaces whose names begin with $NS.
# Processes are ended by the ids that were noted when they started.

. "${BASH_SOURCE%/*}/../expect.sh"
LAB=${LAB:-$(mktemp -d /tmp/rivulet.XXXXXX)}
NS=${NS:-rv$$}
# Who takes it down: a script, or a part of one in parentheses.
LAB_OWNER=$BASHPID
PIDS=()
NAMES=()
BIN=${BIN:?folder with rivulet and rivulet-agent}

# host NAME…: namespaces with loopback up.
host() {
    local name
    for name; do
        ip netns add "$NS-$name"
        ip -n "$NS-$name" link set lo up
        NAMES+=("$name")
    done
}

# lan NUMBER HOST…: a switch of its own; each host gets an interface ethNUMBER with 10.77.NUMBER.X.
lan() {
    local number=$1 switch=sw$1 host index=0
    shift
    host "$switch"
    ip -n "$NS-$switch" link add br0 type bridge forward_delay 0 mcast_snooping 0
    ip -n "$NS-$switch" link set br0 up
    for host; do
        index=$((index + 1))
        ip link add "v$$x$number$index" type veth peer name "eth$number" netns "$NS-$host"
        ip link set "v$$x$number$index" netns "$NS-$switch"
        ip -n "$NS-$switch" link set "v$$x$number$index" master br0 up
        # No duplicate address detection: its delay belongs to the kernel, not to what we measure.
        ip netns exec "$NS-$host" sysctl -qw "net.ipv6.conf.eth$number.accept_dad=0" \
            "net.ipv6.conf.eth$number.router_solicitations=0" || true
        ip -n "$NS-$host" addr add "10.77.$number.$index/24" dev "eth$number"
        ip -n "$NS-$host" link set "eth$number" up
    done
}

# in_host NAME COMMAND…
in_host() {
    local name=$1
    shift
    ip netns exec "$NS-$name" env "$(bus_address "$name")" "$@"
}

# bus_address HOST: where programs of that host look for D-Bus: a bus of the lab's own (avahi.sh) or none at
# all, but never the machine's.
bus_address() { echo "DBUS_SYSTEM_BUS_ADDRESS=unix:path=$LAB/bus_$1.sock"; }

# secret FILE: a fresh network secret, readable by its owner only.
secret() {
    (umask 077 && "$BIN/rivulet" secret >"$1")
}

# config NAME ROLE [LINES]: $LAB/NAME.yaml with the common keys and whatever else is given.
config() {
    cat >"$LAB/$1.yaml" <<YAML
name: $1
network: ${NETWORK:-lab}
secret-file: ${SECRET:-$LAB/secret}
role: $2
state: $LAB/$1
control: $LAB/$1.sock
${3:-}
YAML
}

# start VARIABLE HOST COMMAND…: runs in the background in a namespace; the id goes into the variable.
# Output goes to $LAB/VARIABLE.out and .err.
start() {
    local variable=$1 name=$2
    shift 2
    ip netns exec "$NS-$name" env "$(bus_address "$name")" "$@" \
        >"$LAB/$variable.out" 2>"$LAB/$variable.err" &
    printf -v "$variable" %s $!
    PIDS+=($!)
}

# agent NAME: starts the agent configured as NAME in the host NAME.
agent() { start "agent_$1" "$1" "$BIN/rivulet-agent" --config "$LAB/$1.yaml"; }

# stop ID [SIGNAL]: ends a process of ours and waits for it.
stop() {
    kill "-${2:-TERM}" "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# status NAME: the agent's state as JSON.
status() { "$BIN/rivulet" status --json --socket "$LAB/$1.sock"; }

# drops NAME REASON: one of its drop counters.
drops() { status "$1" | tr ',{}' '\n' | sed -n "s/^ *\"$2\": *//p" | head -1; }

# lab_down: ends and removes everything; what is gone already is no failure. Not from a copy of the shell that was
# killed before it became the program it was made for.
lab_down() {
    local status=$?
    [ "$BASHPID" = "$LAB_OWNER" ] || return $status
    set +e
    umount "$LAB/full" "$LAB/c" 2>/dev/null
    local id name
    for id in "${PIDS[@]}"; do kill -KILL "$id" 2>/dev/null; done
    for id in "${PIDS[@]}"; do wait "$id" 2>/dev/null; done
    for name in "${NAMES[@]}"; do ip netns del "$NS-$name" 2>/dev/null; done
    [ -n "${KEEP_LAB:-}" ] || rm -rf "$LAB"
    return $status
}
