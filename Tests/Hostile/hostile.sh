# Sourced by the cases: the rogue, and what an attack cost.

# Who is attacked has a port that is known.
PORT=4577
FIXED="links: {udp: {port: $PORT}}"

# attack VARIABLE HOST NAME key=value…: the rogue begins; it ends by itself after seconds=.
attack() {
    local variable=$1 host=$2 name=$3
    shift 3
    start "$variable" "$host" "$BIN/rogue" "$name" "network=${NETWORK:-lab}" "secret=$LAB/secret" "$@"
}

# attacked VARIABLE: the attack came to its end and did what it should.
attacked() { wait "${!1}"; }

# up NAME: the node answers.
up() { status "$1" >/dev/null 2>&1; }

# member_up VARIABLE: the rogue was admitted.
member_up() { grep -qs '^admitted' "$LAB/$1.out"; }

# identity NAME low|high: makes the node's identity, with a PeerID below or above the middle.
identity() { "$BIN/rogue" identity "state=$LAB/$1" "half=$2"; }

# made_identity NAME: starts the collector once, so that it has an identity, which is printed.
made_identity() {
    collect "$1"
    until_true 30 up "$1" || return
    member "$1" peer
    local id="collect_$1"
    stop "${!id}"
}

# memory ID: resident and private kilobytes now. memory_peak ID: resident at most so far.
memory() { awk '/^Rss:/ { r += $2 } /^Private_Dirty:/ { p += $2 } END { print r, p }' "/proc/$1/smaps_rollup"; }
memory_peak() { awk '/^VmHWM/ {print $2}' "/proc/$1/status"; }

# processor ID: milliseconds of processor time so far.
processor() {
    awk -v tick="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print int(($12 + $13) * 1000 / tick)}' "/proc/$1/stat"
}

# at_most_kilobytes ID LIMIT
at_most_kilobytes() { [ "$(memory_peak "$1")" -le "$2" ]; }

# reports NAME AGENT: reports of an agent that a collector with --trace has had.
reports() { grep -c "^report [0-9]* $2 " "$LAB/collect_$1.err"; }

# more_reports NAME AGENT SECONDS: a new one comes within so many seconds.
more_reports() {
    local before
    before=$(reports "$1" "$2")
    until_true "$3" eval "[ \"\$(reports $1 $2)\" -gt $before ]"
}

# table NAME TABLE: how full one of a node's tables is.
table() { member "$1" "$2"; }

# neighbours NAME: how many it has.
neighbours() { status "$1" 2>/dev/null | tr '{' '\n' | grep -c '"interface":"[a-z0-9]*","link"'; }
has_neighbours() { [ "$(neighbours "$1")" -ge "$2" ] 2>/dev/null; }

# synchronised COMMAND…: with a clock that the kernel calls synchronised.
synchronised() {
    [ -e "$LAB/synchronised.so" ] ||
        gcc -shared -fPIC -o "$LAB/synchronised.so" Tests/Hostile/synchronised_clock.c
    LD_PRELOAD=$LAB/synchronised.so "$@"
}
