#!/usr/bin/env bash
# One run of one measurement of sessions; prints its numbers. Started by run.sh, with BIN.
#   resource|tls|tcp RELAYS: MB/s of one file, over so many relays
#   stream RELAYS: one-way times of a stream, p50 and p99, µs
#   beside RELAYS: one-way times of readings alone, then beside a resource of 1 GiB: p50 and p99 of each, µs, and the
#     resource's MB/s meanwhile
#   invite: milliseconds from an invitation to connected
#   crowd COUNT: kB resident, and private and written, of a process with so many connected peers
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
FAST=$(mktemp -d /dev/shm/rivulet.XXXXXX)
trap 'lab_down; rm -rf "$FAST"' EXIT
fail() { cat "$LAB"/*.err >&2; exit 1; }
# Nothing of the machine's own; what is received goes to memory, as it does for the others.
export RIVULET_NEARBY_AVAHI=off RIVULET_NEARBY_BLUETOOTH=off RIVULET_NEARBY_FILES=$FAST/files
SIZE=${SIZE:-200}

hosts=(c)
for i in $(seq "${2:-0}"); do [ "$1" = crowd ] || hosts+=("r$i"); done
hosts+=(a)
host "${hosts[@]}"
for ((i = 1; i < ${#hosts[@]}; i++)); do lan "$i" "${hosts[i - 1]}" "${hosts[i]}"; done

# Sender a, receiver c, relays between them.
sessions() {
    start serve c "$BIN/session-bench" serve bench server
    local relay
    for relay in "${hosts[@]:1:${#hosts[@]}-2}"; do
        start "relay_$relay" "$relay" "$BIN/session-bench" relay bench
    done
    sleep 1
}

# The same path for the kernel: relays forward, c asks a, which is the last host of the last network.
forwarding() {
    local last=$((${#hosts[@]} - 1)) i
    for ((i = 1; i < last; i++)); do
        in_host "${hosts[i]}" sysctl -qw net.ipv4.ip_forward=1
        ip -n "$NS-${hosts[i]}" route add "10.77.$last.0/24" via "10.77.$((i + 1)).2" 2>/dev/null || true
    done
    [ "$last" = 1 ] || ip -n "$NS-c" route add "10.77.$last.0/24" via 10.77.1.2
    [ "$last" = 1 ] || ip -n "$NS-a" route add 10.77.1.0/24 via "10.77.$last.1"
    address=10.77.$last.2
}

head -c "${SIZE}000000" /dev/urandom >"$FAST/data"
case $1 in
resource)
    sessions
    in_host a "$BIN/session-bench" resource bench server "$FAST/data" || fail
    ;;
stream)
    sessions
    in_host a "$BIN/session-bench" stream bench server || fail
    until_true 5 [ -s "$LAB/serve.out" ] || fail
    cat "$LAB/serve.out"
    ;;
beside)
    sessions
    truncate -s 1GiB "$FAST/data"
    speed=$(in_host a "$BIN/session-bench" beside bench server "$FAST/data") || fail
    until_true 5 awk 'END { exit NR < 2 }' "$LAB/serve.out" || fail
    awk -v speed="$speed" '{ printf "%s %s ", $1, $2 } END { print speed }' "$LAB/serve.out"
    ;;
invite)
    sessions
    in_host a "$BIN/session-bench" invite bench server || fail
    ;;
tls)
    forwarding
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=bench -days 2 \
        -keyout "$LAB/key" -out "$LAB/certificate" 2>/dev/null
    (cd "$FAST" && start tls a openssl s_server -quiet -accept 4433 -WWW -key "$LAB/key" -cert "$LAB/certificate"
        echo "$tls" >"$LAB/tls.id")
    PIDS+=("$(cat "$LAB/tls.id")")
    until_true 5 in_host c curl -sk -o /dev/null "https://$address:4433/none" || fail
    speed=$(in_host c curl -sk -o "$FAST/got" -w '%{speed_download}' "https://$address:4433/data")
    cmp -s "$FAST/data" "$FAST/got" || fail
    echo $((${speed%.*} / 1000000))
    ;;
tcp)
    forwarding
    gcc -O2 -Wall -Wextra -Werror -o "$LAB/tcp_bulk" Benchmarks/tcp_bulk.c
    start tcp a "$LAB/tcp_bulk" serve 9000 "$FAST/data"
    sleep 0.3
    in_host c "$LAB/tcp_bulk" fetch "$address" 9000 "$FAST/got" || fail
    cmp -s "$FAST/data" "$FAST/got" || fail
    ;;
crowd)
    sessions
    start crowd a "$BIN/session-bench" crowd bench server "$2"
    # They all hear each other, which takes them longer than the one that is measured.
    until_true 300 grep -qs "^connected" "$LAB/crowd.out" || fail
    sleep 5
    sync
    awk '/^Rss:/ { rss += $2 } /^Private_Dirty:/ { private += $2 } END { print rss, private }' \
        "/proc/$serve/smaps_rollup"
    ;;
esac
