#!/usr/bin/env bash
# Benchmarks/run.sh [--peers] [connect|first-reading|footprint|wire|latency|relay|load|recovery|alarms|idle|start|ingest|
# store|journal|session|scale|pages|join …]: measures on this machine, in network namespaces, and prints a line each: `name:
# value unit` (median of RUNS runs, the worst in brackets). Where there is a floor, such as plain UDP in C, it is measured in
# the same run, and so is the ratio. With --peers, so are other programs of Debian's that do the same (Peers/): babeld for
# recovery; mosquitto, libcoap and Cyclone DDS for latency; mosquitto for relay, start and join; collectd for footprint,
# idle and ingest; InfluxDB, PostgreSQL and rows of SQLite for store. One that this Debian lacks is skipped. As root. Builds in release first, unless BIN names a folder with a build. RESULTS.md has a full run.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/common.sh
[ "$(id -u)" = 0 ] || die "run it as root: it makes network namespaces"
need iproute2 procps gcc libc6-dev tcpdump
release_build
RUNS=${RUNS:-5}
scratch=$(mktemp)
trap 'rm -f "$scratch"' EXIT

# median NAME UNIT: of the numbers on standard input.
median() {
    sort -n | awk -v name="$1" -v unit="$2" '
        { v[NR] = $1 } END { printf "%s: %s %s (%s)\n", name, v[int((NR + 1) / 2)], unit, v[NR] }'
}

# fastest NAME UNIT: as `median`, where more is better: the worst is the least.
fastest() {
    sort -n | awk -v name="$1" -v unit="$2" '
        { v[NR] = $1 } END { printf "%s: %s %s (%s)\n", name, v[int((NR + 1) / 2)], unit, v[1] }'
}

measure() { for _ in $(seq "$RUNS"); do bash Benchmarks/case.sh "$@"; done; }

# ratio NAME OURS FLOOR: of two lines that `median` or `fastest` printed, by their medians.
ratio() {
    awk -v name="$1" -v ours="$2" -v floor="$3" 'BEGIN {
        sub(/.*: /, "", ours); sub(/.*: /, "", floor)
        if (floor + 0 > 0) printf "%s: %.2f times\n", name, ours / floor }'
}

# peer WHAT SCRIPT…: its lines of so many runs, with --peers; nothing where Debian lacks it. A peer that fails is said,
# and keeps nothing else from being measured.
peer() {
    [ -n "$peers" ] || return 0
    local run status
    for run in $(seq "$RUNS"); do
        status=0
        bash "$@" || status=$?
        [ "$status" != 77 ] || return 0
        [ "$status" = 0 ] || echo "${*##*/}: failed in run $run" >&2
    done
}

# beside NAME UNIT FIELD LINES OURS [fastest]: a figure of a peer, and the ratio of ours to it.
beside() {
    [ -n "$4" ] || return 0
    local theirs
    theirs=$(awk -v field="$3" '{ print $field }' <<<"$4" | "${6:-median}" "$1" "$2")
    echo "$theirs"
    [ -z "$5" ] || ratio "ours to $1" "$5" "$theirs"
}

peers=
[ "${1:-}" != --peers ] || { peers=1; shift; }
for what in "${@:-connect}"; do
    case $what in
    connect) measure connect | median "start to connected" ms ;;
    first-reading) measure first-reading | median "start to first reading at the collector" ms ;;
    wire) measure wire | median "a lone reading on the wire, one hop, Ethernet and IPv4" bytes ;;
    footprint)
        results=$(for _ in $(seq "$RUNS"); do bash Benchmarks/footprint.sh; done)
        resident=$(awk '{ print $1 }' <<<"$results" | median "agent with 20 channels at 1 Hz, resident" kB)
        private=$(awk '{ print $2 }' <<<"$results" | median "agent with 20 channels at 1 Hz, private dirty" kB)
        printf '%s\n' "$resident" "$private"
        theirs=$(peer Benchmarks/Peers/collectd.sh)
        beside "collectd, resident" kB 1 "$theirs" "$resident"
        beside "collectd, private dirty" kB 2 "$theirs" "$private"
        strip -o "$scratch" "$BIN/rivulet-agent"
        echo "agent, stripped: $(($(stat -c %s "$scratch") / 1000)) kB"
        ;;
    latency)
        # All processes come before others of this machine.
        export FIFO=1
        for relays in 0 1 3; do measure latency "$relays" >"$scratch.$relays"; done
        # Half of a round trip of as many bytes, nanoseconds before.
        for _ in $(seq "$RUNS"); do sh Benchmarks/udp_forward.sh 1000; done >"$scratch"
        for relays in 0 1 3; do
            for part in p50 p99; do
                ours=$(cut -d ' ' -f $([ $part = p50 ] && echo 1 || echo 2) "$scratch.$relays" |
                    median "one way over $relays relays, $part" µs)
                floor=$(awk -v relays="$relays" -v part=$part '$2 == relays {
                    for (i = 3; i < NF; i += 2) if ($i == part) printf "%.1f\n", $(i + 1) / 2000
                }' "$scratch" | median "one way over $relays relays, $part, plain UDP in C" µs)
                printf '%s\n' "$ours" "$floor"
                ratio "one way over $relays relays, $part, to plain UDP" "$ours" "$floor"
            done
        done
        p50s() { cut -d ' ' -f 1 "$scratch.$1" | median "" µs; }
        direct=$(p50s 0) relayed=$(p50s 1)
        beside "one way, p50, CoAP over DTLS" µs 1 "$(peer Benchmarks/Peers/coap.sh latency)" "$direct"
        beside "one way, p50, Cyclone DDS, not encrypted" µs 1 "$(peer Benchmarks/Peers/cyclone.sh latency)" "$direct"
        beside "one way over its broker, p50, mosquitto with TLS" µs 1 \
            "$(peer Benchmarks/Peers/mosquitto.sh latency)" "$relayed"
        rm "$scratch".*
        unset FIFO
        ;;
    relay)
        results=$(measure relay)
        ours=$(awk '{ print $1 }' <<<"$results" | median "a relay at 1 kHz, its CPU for a datagram" µs)
        floor=$(for _ in $(seq "$RUNS"); do sh Benchmarks/udp_forward.sh 2000; done |
            sed -n 's/^relays 1 .* cpu //p' | awk '{ printf "%.2f\n", $1 / 1000 }' |
            median "a forwarder in C at 1 kHz, its CPU for a datagram" µs)
        printf '%s\n' "$ours" "$floor"
        ratio "a relay's CPU to the forwarder's" "$ours" "$floor"
        most=$(awk '{ print $2 }' <<<"$results" | fastest "a relay with more than it can carry, delivered" messages/s)
        echo "$most"
        theirs=$(peer Benchmarks/Peers/mosquitto.sh relay)
        beside "mosquitto with TLS at 1 kHz, its CPU for a message" µs 1 "$theirs" "$ours"
        beside "mosquitto with more than it can carry, delivered" messages/s 2 "$theirs" "$most" fastest
        ;;
    load)
        need valgrind jq
        for load in none bulk fresh; do
            results=$(measure load $load)
            awk '{ print $1 }' <<<"$results" | median "a message over a slow relay, load $load, p50" µs
            awk '{ print $2 }' <<<"$results" | median "a message over a slow relay, load $load, p99" µs
            awk '{ print $5 / 15 }' <<<"$results" | fastest "of these messages, load $load, delivered" %
            awk '{ print $6 }' <<<"$results" | fastest "what came to it of what it could carry, load $load" times
        done
        ;;
    ingest)
        for side in viewer store; do
            results=$(for _ in $(seq "$RUNS"); do bash Benchmarks/ingest.sh $side 20 "${INGEST_SECONDS:-10}"; done)
            awk '{ print $2 / 20 }' <<<"$results" | fastest "into a $side on one processor" reports/s
            awk '{ print $2 }' <<<"$results" | fastest "into a $side on one processor, 20 a report" readings/s
            awk '{ print $3 }' <<<"$results" | median "of what was sent to a $side, not taken" %
            [ $side = store ] || viewed=$(awk '{ print $2 }' <<<"$results" | fastest "" readings/s)
        done
        beside "collectd on one processor, without an output" readings/s 2 \
            "$(peer Benchmarks/Peers/collectd.sh flood)" "$viewed" fastest
        ;;
    start)
        results=$(measure start)
        awk '{ print $1 }' <<<"$results" | median "start to connected, fresh identity" ms
        kept=$(awk '{ print $2 }' <<<"$results" | median "start to connected, kept identity" ms)
        echo "$kept"
        beside "a client of mosquitto, which knows its address, start to connected" ms 1 \
            "$(peer Benchmarks/Peers/mosquitto.sh start)" "$kept"
        ;;
    idle)
        results=$(for _ in $(seq "$RUNS"); do bash Benchmarks/footprint.sh idle; done)
        cpu=$(awk '{ print $1 }' <<<"$results" | median "agent with 20 channels at 1 Hz, CPU a second" ms)
        wakeups=$(awk '{ print $2 }' <<<"$results" | median "agent with 20 channels at 1 Hz, wakeups a second" times)
        printf '%s\n' "$cpu" "$wakeups"
        theirs=$(peer Benchmarks/Peers/collectd.sh idle)
        beside "collectd, CPU a second" ms 1 "$theirs" "$cpu"
        beside "collectd, wakeups a second" times 2 "$theirs" "$wakeups"
        ;;
    recovery)
        need nftables
        for how in killed silent carrier; do
            ours=$(measure recovery $how | median "relay $how: longest gap" ms)
            echo "$ours"
            beside "relay $how: longest gap, babeld" ms 1 "$(peer Benchmarks/Peers/babeld.sh $how)" "$ours"
        done
        ;;
    alarms)
        # ALARM_SECONDS=3600 is what is quoted. The agent and the collector end when the time is over.
        need jq nftables
        for load in "send 0" "flood 0" "send 10" "flood 10"; do
            RUNS=1 measure alarms "${ALARM_SECONDS:-60}" $load | awk -v load="$load" -v seconds="${ALARM_SECONDS:-60}" '{
                printf "given up in %d s, though there (%s %% loss): %d times (looked %d times; %d messages/s)\n",
                    seconds, load, $1, $2, $3 }'
        done
        ;;
    store)
        # Once: ten million readings take some minutes and a gigabyte below TMPDIR.
        folder=$(mktemp -d)
        trap 'rm -rf "$scratch" "$folder"' EXIT
        "$BIN/store-bench" "$folder/readings.sqlite" "${READINGS:-10000000}"
        echo "size of the store: $(($(stat -c %s "$folder/readings.sqlite") / 1000000)) MB"
        # What stays for long: of one agent so many readings are days, and narrow windows are kept for one.
        "$BIN/store-bench" "$folder/days.sqlite" "${READINGS:-10000000}" 1 |
            sed -n 's/^bytes a reading, blocks, narrow.*: /bytes a reading, one agent alone: /p'
        # The same days of the same agent. PostgreSQL's own user must get there.
        chmod a+x "$folder"
        for other in sqlite_rows postgres influx; do
            RUNS=1 TMPDIR=$folder peer "Benchmarks/Peers/$other.sh" "${READINGS:-10000000}" 1 | sed "s/^/$other: /"
        done
        rm -rf "$folder"
        ;;
    journal)
        journal() { for _ in $(seq "$RUNS"); do bash Benchmarks/journal.sh "$@"; done; }
        for rate in "20 100" "50 1000"; do
            results=$(journal rate $rate)
            name="channels and ms between readings: $rate"
            awk '{ print $1 }' <<<"$results" | median "sent for a reading, $name" bytes
            awk '{ print $2 }' <<<"$results" | median "both ways for a reading, $name" bytes
            awk '{ print $3 }' <<<"$results" | median "written to disk for a reading, $name" bytes
        done
        results=$(RUNS=1 journal memory)
        awk '{ print $1 }' <<<"$results" | median "a full journal in memory" kB
        awk '{ print $2 }' <<<"$results" | median "readings in it" readings
        journal backlog | median "sent again after an hour of 50 channels at 1 Hz" readings/s
        ;;
    session)
        need curl openssl
        session() { for _ in $(seq "$RUNS"); do bash Benchmarks/session.sh "$@"; done; }
        for relays in 0 1; do
            session resource "$relays" | fastest "a resource over $relays relays" MB/s
            session tls "$relays" | fastest "curl from openssl s_server over $relays routers" MB/s
            session tcp "$relays" | fastest "plain TCP over $relays routers" MB/s
        done
        for relays in 0 1; do
            results=$(session stream "$relays")
            awk '{ print $1 }' <<<"$results" | median "a stream, one way over $relays relays, p50" µs
            awk '{ print $2 }' <<<"$results" | median "a stream, one way over $relays relays, p99" µs
        done
        for relays in 0 1; do
            results=$(session beside "$relays")
            where="over $relays relays"
            awk '{ print $1 }' <<<"$results" | median "a reading $where, p50" µs
            awk '{ print $3 }' <<<"$results" | median "a reading $where beside a resource of 1 GiB, p50" µs
            awk '{ print $2 }' <<<"$results" | median "a reading $where, p99" µs
            awk '{ print $4 }' <<<"$results" | median "a reading $where beside a resource of 1 GiB, p99" µs
            awk '{ printf "%.2f\n", $3 / $1 }' <<<"$results" | median "beside to alone, p50" times
            awk '{ printf "%.2f\n", $4 / $2 }' <<<"$results" | median "beside to alone, p99" times
            awk '{ print $5 }' <<<"$results" | fastest "that resource meanwhile" MB/s
        done
        session invite | median "invitation to connected" ms
        # Once: they take minutes, as each of them hears all others.
        results=$(RUNS=1 session crowd 100)
        awk '{ print $1 }' <<<"$results" | median "a process with 100 connected peers, resident" kB
        awk '{ print $2 }' <<<"$results" | median "a process with 100 connected peers, private dirty" kB
        # From the import to the first message, without comments and blank lines.
        awk '/^import Nearby/ { on = 1 } on && !/^ *(\/\/|$)/ { count++ } /session\.send\(/ && on { exit }
            END { print "from import to the first message: " count " lines" }' Examples/hello/*.swift
        ;;
    pages)
        need jq curl python3
        bash Benchmarks/pages.sh 1000 20 100
        ;;
    scale)
        need nftables sqlite3 jq curl
        # Agents that the two sides' processors still carry; SCALE="1000" tries what one likes, COLLECTORS=4
        # POSTGRES=1 several collectors that share a database.
        [ -z "${POSTGRES:-}" ] || need postgresql
        for agents in ${SCALE:-50 200}; do bash Benchmarks/scale.sh "$agents" 20 1000 "${SCALE_SECONDS:-90}"; done
        ;;
    join)
        need nftables
        for agents in ${JOIN:-200 1000}; do
            bash Benchmarks/join.sh "$agents"
            beside "$agents clients of mosquitto, all connected" ms 3 \
                "$(RUNS=1 peer Benchmarks/Peers/mosquitto.sh join "$agents")" ""
        done
        ;;
    *) die "Benchmarks/run.sh [connect|first-reading|footprint|wire|latency|relay|load|recovery|alarms|idle|start|ingest|store|journal|session|scale|pages|join …]" ;;
    esac
done
