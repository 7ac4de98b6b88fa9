#!/usr/bin/env bash
# Debian's collectd with 20 values a second, sent encrypted to another one, as a peer of our agent in footprint.sh: the
# plugin tail_csv reads a file that gets a line a second, the plugin network sends them on when a second is over, as
# our agent does. It has one thread for reading and one for writing. As root. Started by run.sh --peers.
#
#   Benchmarks/Peers/collectd.sh         its resident memory, and what of it is its own and written, in kB
#   Benchmarks/Peers/collectd.sh idle    its CPU time a second in ms, and how often a second it wakes
#   Benchmarks/Peers/collectd.sh wire    bytes for each reading over twenty seconds: what it gave to UDP, and all with
#                                        the headers of IP and Ethernet
#   Benchmarks/Peers/collectd.sh flood   a receiver alone, on one processor, flooded from another: readings sent a
#                                        second; those a second that came into its cache (it has nothing to write to);
#                                        how much of its processor it had meanwhile, in %; and what it takes in for a
#                                        second of its processor. With less than 90 % it was not the limit.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Benchmarks/Peers/packages.sh
# No program of ours runs here.
BIN=${BIN:-none}
. Tests/Network/lab.sh
trap lab_down EXIT
packages collectd-core libgcrypt20 python3 nftables

host c a
lan 1 c a
umask 077
od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"$LAB/password"
echo "a: $(cat "$LAB/password")" >"$LAB/users"

# settings NAME [LINES]: what both have in common.
settings() {
    mkdir "$LAB/$1"
    cat >"$LAB/$1.conf" <<CONF
Hostname "$1"
FQDNLookup false
Interval 1
BaseDir "$LAB/$1"
ReadThreads 1
WriteThreads 1
LoadPlugin logfile
<Plugin logfile>
  LogLevel warning
  File stderr
</Plugin>
$2
CONF
}
listen="
LoadPlugin network
<Plugin network>
  ReportStats true
  <Listen \"10.77.1.1\">
    SecurityLevel Encrypt
    AuthFile \"$LAB/users\"
  </Listen>
</Plugin>"
listens() { in_host c ss -Huln | grep -q ':25826 '; }
# start_receiver LINES [COMMAND…]
start_receiver() {
    settings c "$listen$1"
    shift
    start receiver c "$@" collectd -f -C "$LAB/c.conf"
    until_true 30 listens || die "collectd does not listen: $(cat "$LAB/receiver.err")"
}

if [ "${1:-}" = flood ]; then
    packages gcc libc6-dev libssl-dev
    cc -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$LAB/flood" Benchmarks/Peers/collectd_flood.c -lcrypto
    start_receiver "
CollectInternalStats true
LoadPlugin unixsock
<Plugin unixsock>
  SocketFile \"$LAB/c.sock\"
</Plugin>" taskset -c 0
    start flood a taskset -c "$(($(nproc) - 1))" "$LAB/flood" 10.77.1.1 a "$LAB/password" 12 "${PACKETS:-100000}"
    # It counts what came out of packets; of that the queue before the cache may grow.
    python3 - "$LAB/c.sock" "$receiver" >"$LAB/taken" <<'PYTHON'
import glob, socket, sys, time
stream = socket.socket(socket.AF_UNIX)
stream.connect(sys.argv[1])
lines = stream.makefile("rw")

def ask(words):
    lines.write(words + "\n")
    lines.flush()
    count = int(lines.readline().split()[0])
    return [lines.readline().strip() for _ in range(count)]

def number(name):
    return float(ask(f'GETVAL "c/{name}"')[0].split("=")[1])

def state():
    spent = sum(int(open(name).read().split()[0]) for name in glob.glob(f"/proc/{sys.argv[2]}/task/*/schedstat"))
    return number("collectd-write_queue/queue_length"), spent / 1e9, time.monotonic()

time.sleep(3)
rates, (queue, spent, began) = [], state()
for _ in range(8):
    time.sleep(1)
    rates.append(number("network/total_values-dispatch-accepted"))
queue, spent, span = (after - before for after, before in zip(state(), (queue, spent, began)))
channels = sum(" flood" in line for line in ask("LISTVAL"))
if channels != 80:
    sys.exit(f"{channels} channels are in its cache, not 80")
taken = sum(rates) / len(rates) - queue / span
print(f"{taken:.0f} {100 * spent / span:.0f} {taken * span / spent:.0f}")
PYTHON
    wait "$flood"
    awk '{ print int($1 / 12) }' "$LAB/flood.out" | paste -d ' ' - "$LAB/taken"
    exit
fi
start_receiver "
LoadPlugin csv
<Plugin csv>
  DataDir \"$LAB/received\"
</Plugin>"
metrics=$(for i in $(seq 20); do
    printf '<Metric channel%s>\n Type gauge\n Instance channel%s\n ValueFrom %s\n</Metric>\n' "$i" "$i" "$i"
done)
collected=$(for i in $(seq 20); do printf 'Collect channel%s\n' "$i"; done)
settings a "
LoadPlugin tail_csv
<Plugin tail_csv>
  $metrics
  <File \"$LAB/writer.out\">
    TimeFrom 0
    $collected
  </File>
</Plugin>
<LoadPlugin network>
  FlushInterval 1
</LoadPlugin>
<Plugin network>
  <Server \"10.77.1.1\">
    SecurityLevel Encrypt
    Username a
    Password \"$(cat "$LAB/password")\"
  </Server>
</Plugin>"

# A line of twenty values each second, as footprint.sh has them replayed.
start writer a python3 -u -c '
import time
due = time.monotonic()
while True:
    second = int(time.time())
    print(second, *(f"{20 + second % 5}.{channel}" for channel in range(1, 21)), sep=",")
    due += 1; time.sleep(max(0, due - time.monotonic()))'
start sender a collectd -f -C "$LAB/a.conf"

# counts: how many values of each channel have arrived, a line each. A file begins with a heading.
counts() {
    awk 'FNR > 1 { channel = FILENAME; sub(/.*gauge-channel/, "", channel); count[channel + 0]++ }
        END { for (channel = 1; channel <= 20; channel++) print count[channel] + 0 }' "$LAB"/received/a/tail_csv/*
}
arrive() { counts 2>/dev/null | awk '$1 > 0 { there++ } END { exit there != 20 }'; }
until_true 60 arrive || { cat "$LAB"/*.err >&2; exit 1; }
sleep 10
sync

# spent: on-CPU nanoseconds and voluntary switches of all its threads.
spent() {
    echo "$(cat "/proc/$sender/task"/*/schedstat | awk '{ sum += $1 } END { printf "%.0f\n", sum }')" \
        "$(awk '/^voluntary_ctxt/ { sum += $2 } END { print sum }' "/proc/$sender/task"/*/status)"
}
# sent: bytes, with the headers of IP and UDP, and packets.
sent() {
    in_host a nft list counter inet wire datagrams | awk '$1 == "packets" { print $4, $2 }'
}
# over SECONDS COMMAND: its numbers before and after, and how many values arrived meanwhile, which is all there are.
over() {
    local seconds=$1 before after first last
    shift
    before=$("$@") first=$(counts)
    sleep "$seconds"
    after=$("$@") last=$(counts)
    paste <(echo "$first") <(echo "$last") | awk -v numbers="$before $after" -v seconds="$seconds" '
        { sum += $2 - $1; if ($2 - $1 < seconds - 1) missing++ }
        END { if (missing || NR != 20) exit 1; print numbers, sum }' || die "values are missing"
}
case ${1:-} in
'')
    awk '/^Rss:/ { rss += $2 } /^Private_Dirty:/ { private += $2 } END { print rss, private }' \
        "/proc/$sender/smaps_rollup"
    ;;
idle)
    numbers=$(over 30 spent)
    awk '{ printf "%.2f %.1f\n", ($3 - $1) / 30 / 1000000, ($4 - $2) / 30 }' <<<"$numbers"
    ;;
wire)
    in_host a nft -f - <<'NFT'
table inet wire {
    counter datagrams { }
    chain output {
        type filter hook output priority 0
        udp dport 25826 counter name datagrams
    }
}
NFT
    # 28 bytes of a packet are headers, and 14 more Ethernet's.
    numbers=$(over 20 sent)
    awk '{ printf "%.1f %.1f\n", ($3 - $1 - 28 * ($4 - $2)) / $5, ($3 - $1 + 14 * ($4 - $2)) / $5 }' <<<"$numbers"
    ;;
*) die "collectd.sh [idle|wire|flood]" ;;
esac
