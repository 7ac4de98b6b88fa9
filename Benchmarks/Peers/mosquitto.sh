#!/usr/bin/env bash
# mosquitto.sh latency|relay|start|join CLIENTS: what case.sh and join.sh measure, of Debian's MQTT broker, with TLS, a
# pre-shared key and QoS 0 (mqtt_peer.c), on the same networks: the yardstick for them. Prints
#   latency: one-way times over the broker, which stands between two networks as a relay does: p50 and p99, µs
#   relay: the broker's CPU for a message at 1 kHz, µs, and the messages a second of a flood that it delivered
#   start: milliseconds from the start of a client to its CONNACK; it knows the address of the broker, which is up
#   join: milliseconds until half, nine in ten and all of so many clients which start at once were connected
# Status 77: this Debian lacks a package. Started by run.sh --peers.
# shellcheck disable=SC2154 # `start` assigns them.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Network/lab.sh
trap lab_down EXIT
. Benchmarks/Peers/peer.sh
. Benchmarks/crowd.sh
# As ours are measured: in the others no process comes before those of the machine.
[ "${1:-}" = latency ] || unset FIFO
packages mosquitto libmosquitto-dev libssl-dev gcc libc6-dev
compile mqtt_peer -lmosquitto -lssl
psk "$LAB/keys"
peer=$LAB/mqtt_peer port=8883

# broker HOST NODELAY: started there, and listening. Nothing is written; 1,000 messages wait for a client, then some are
# lost.
broker() {
    cat >"$LAB/broker.conf" <<CONF
user root
persistence false
log_dest stderr
log_type error
log_type warning
log_type notice
connection_messages false
set_tcp_nodelay $2
max_queued_messages 1000
listener $port
max_connections -1
psk_hint lab
psk_file $LAB/keys
use_identity_as_username true
ciphers ECDHE-PSK-CHACHA20-POLY1305
CONF
    urgent broker "$1" mosquitto -c "$LAB/broker.conf"
    listens() { in_host "$1" ss -Hltn "sport = :$port" | grep -q .; }
    until_true 10 listens "$1" || fail "the broker does not listen"
}

# subscriber COUNT SECONDS: a receiver on c, whose subscription is granted.
subscriber() {
    urgent receive c "$peer" receive "$LAB/keys" 10.77.1.2 $port "$1" "$2"
    until_true 10 grep -qs ready "$LAB/receive.err" || fail "no subscription"
}

# publisher send|flood COUNT: on a.
publisher() { urgent publish a "$peer" "$1" "$LAB/keys" 10.77.2.1 $port "$2"; }

# The broker on r, between a receiver on c and a sender on a.
middle() {
    host c r a
    lan 1 c r
    lan 2 r a
    broker r true
}

case ${1:-} in
latency)
    middle
    subscriber 1000 30
    publisher send 1000
    finished "$receive" "the receiver"
    cut -d ' ' -f 1,2 "$LAB/receive.out"
    ;;
relay)
    middle
    subscriber 8000 30
    publisher send 8000
    # shellcheck disable=SC2016
    arrived() { in_host r awk '/eth2:/ { print $3 }' /proc/net/dev; }
    flows() { local before; before=$(arrived); sleep 0.5; [ $(($(arrived) - before)) -ge 100 ]; }
    until_true 20 flows || fail "no messages"
    sleep 1
    before=$(cut -d ' ' -f 1 "/proc/$broker/schedstat")
    messages=$(arrived)
    sleep 2
    spent=$(($(cut -d ' ' -f 1 "/proc/$broker/schedstat") - before))
    messages=$(($(arrived) - messages))
    finished "$receive" "the receiver"
    stop "$publish"
    # What suits a flood better: by a third more was delivered.
    stop "$broker"
    broker r false
    subscriber 2000000 15
    publisher flood 500000
    finished "$receive" "the receiver"
    awk -v spent=$spent -v messages=$messages '{ printf "%.2f %d\n", spent / messages / 1000, $4 }' "$LAB/receive.out"
    ;;
start)
    host c a
    lan 1 c a
    broker c true
    began=$(date +%s%N)
    urgent connect a "$peer" connect "$LAB/keys" 10.77.1.1 $port
    finished "$connect" "the client"
    awk -v ns=$(($(cat "$LAB/connect.out") - began)) 'BEGIN { printf "%.1f\n", ns / 1000000 }'
    ;;
join)
    clients=${2:?how many clients}
    host c a
    lan 1 c a
    ulimit -n "$(ulimit -Hn)"
    broker c true
    # As ours: a process has one loop for 240, and all begin at the same moment.
    crowds=() processes=$(((clients + 239) / 240))
    export CROWD_STOPS=1
    for ((number = 0; number < processes; number++)); do
        share=$((clients / processes + (number < clients % processes ? 1 : 0)))
        urgent "crowd_$number" a "$peer" crowd "$LAB/keys" 10.77.1.1 $port "$share"
        crowds+=($!)
    done
    any_ended() {
        local id
        for id in "${crowds[@]}"; do kill -0 "$id" 2>/dev/null || return 0; done
        return 1
    }
    settled() { all_connected "$clients" || any_ended; }
    stopped() { all_stopped || any_ended; }
    until_true 60 stopped || true
    all_stopped || fail "the clients do not begin"
    kill -CONT "${crowds[@]}"
    # Seldom: whoever looks takes time from those who join.
    POLL=0.5 until_true "${JOIN_SECONDS:-90}" settled || true
    all_connected "$clients" || fail "not all were connected"
    together | awk -v clients="$clients" '
        $2 * 2 >= clients && !half { half = $1 }
        $2 * 10 >= clients * 9 && !most { most = $1 }
        $2 == clients { print half, most, $1; exit }'
    ;;
*)
    echo "usage: mosquitto.sh latency|relay|start|join CLIENTS" >&2
    exit 2
    ;;
esac
