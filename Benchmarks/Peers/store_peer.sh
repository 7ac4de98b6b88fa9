# Sourced by influx.sh, postgres.sh and sqlite_rows.sh, with READINGS and AGENTS for arguments: what they share.
# A server runs in the network namespace `c`, on the first processor; what feeds it on the last.
. Benchmarks/Peers/packages.sh
# Where TMPDIR says: a run of ten million readings takes some gigabytes.
LAB=$(mktemp -d)
# No program of ours runs here.
BIN=${BIN:-none}
. Tests/Network/lab.sh
# Readings of a request or a transaction, and how many connections bring them.
BATCH=${BATCH:-10000}
CLIENTS=${CLIENTS:-4}
SERVER_CORE=0
FEEDER_CORE=$(($(nproc) - 1))
# What a unit of the store is in hundredths.
SCALE=100
READINGS=${1:?READINGS AGENTS} AGENTS=${2:?READINGS AGENTS}

readings() { python3 Benchmarks/Peers/readings.py "$1" "$READINGS" "$AGENTS"; }

# say NAME VALUE UNIT
say() { echo "$1: $2${3:+ $3}"; }

# per_reading NAME BYTES
per_reading() { say "$1" "$(awk "BEGIN { printf \"%.1f\", $2 / $READINGS }")"; }

# expectations: what the queries have to give, as readings.py says.
expectations() {
    local numbers
    numbers=$(readings expect)
    {
        read -r from day_end day_rows day_sum _
        read -r from end _ _ least most
    } <<<"$numbers"
    asked=$((AGENTS < 3 ? AGENTS : 3))
    # A chart has 600 points, or fewer where they would not be whole seconds.
    width=$(((end - from + 599) / 600))
    buckets=$(((end - from + width - 1) / width))
    days=$(awk "BEGIN { printf \"%.1f\", ($end - $from) / 86400 }")
}

# all_there COUNT
all_there() { [ "$1" = "$READINGS" ] || die "$1 readings were taken in, not $READINGS"; }

# median_of_five NAME COMMAND…: the command prints milliseconds; it has run once before.
median_of_five() {
    local name=$1 times=() time
    shift
    "$@" >/dev/null
    for _ in 1 2 3 4 5; do
        time=$("$@")
        times+=("$time")
    done
    say "$name" "$(printf '%s\n' "${times[@]}" | sort -n | sed -n 3p)" ms
}

day_name() { echo "one channel of one agent over one day ($day_rows rows)"; }
chart_name() { echo "one channel of one agent over $days days, for a chart ($buckets rows)"; }

# day_is_right FILE: lines that end in a comma and a value.
day_is_right() {
    local found
    found=$(awk -F , -v scale="$SCALE" '{ sum += int($NF * scale + 0.5) } END { printf "%d %d\n", NR, sum }' "$1")
    [ "$found" = "$day_rows $day_sum" ] || die "a day has rows and a sum of $found, not $day_rows $day_sum"
}

# chart_is_right FILE: lines that end in a mean, a least and a greatest value.
chart_is_right() {
    local found
    found=$(awk -F , -v scale="$SCALE" '{
        low = int($(NF - 1) * scale + 0.5); high = int($NF * scale + 0.5); mean = $(NF - 2) * scale
        if (mean < low || mean > high) wrong++
        if (NR == 1 || low < least) least = low
        if (NR == 1 || high > most) most = high
    } END { printf "%d %d %d %d\n", NR, least, most, wrong }' "$1")
    [ "$found" = "$buckets $least $most 0" ] || die "a chart has $found, not $buckets $least $most 0"
}

# server_processes: the ids of those who serve; where there are several a script defines it anew.
server_processes() { echo "$server"; }

# server_cpu: milliseconds on a processor so far, with children that are gone.
server_cpu() {
    local id
    for id in $(server_processes); do cut -d ' ' -f 14-17 "/proc/$id/stat" 2>/dev/null || true; done |
        awk -v tick="$(getconf CLK_TCK)" '{ sum += $1 + $2 + $3 + $4 } END { printf "%d\n", sum * 1000 / tick }'
}

# server_memory: a page that several of them share counts once.
server_memory() {
    local id
    for id in $(server_processes); do cat "/proc/$id/smaps_rollup"; done | awk '
        /^Pss:/ { pss += $2 } /^Private_Dirty:/ { private += $2 } END {
        printf "the server, resident: %d kB\nthe server, private dirty: %d kB\n", pss, private }'
}

# fed COMMAND…: the command once for each client, with its number from 0 on, side by side.
fed() {
    local ids=() id number
    for ((number = 0; number < CLIENTS; number++)); do
        "$@" "$number" &
        ids+=($!)
    done
    for id in "${ids[@]}"; do wait "$id" || die "a client failed: $(tail -n 3 "$LAB"/*.err)"; done
}

# taken NAME COMMAND…: readings a second while the command runs. How much of its processor the server had says whether
# it was the limit; what it takes in for a second that it had travels better from a machine that others use, too.
taken() {
    local name=$1 cpu began time
    shift
    cpu=$(server_cpu) began=$(date +%s%N)
    "$@"
    time=$((($(date +%s%N) - began) / 1000000)) cpu=$(($(server_cpu) - cpu))
    say "$name" $((READINGS * 1000 / time)) readings/s
    say "$name: of its processor the server had" $((100 * cpu / time)) %
    say "$name: for each second of that" $((READINGS * 1000 / cpu)) readings
}
