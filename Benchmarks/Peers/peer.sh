# Sourced by mosquitto.sh, coap.sh and cyclone.sh, after Tests/Network/lab.sh.
. Benchmarks/Peers/packages.sh

# What a case prints when it has no numbers: why, and what the processes said.
fail() {
    echo "$*" >&2
    tail -n 5 "$LAB"/*.err >&2 2>/dev/null || true
    exit 1
}

# compile NAME LIBRARY…: $LAB/NAME of NAME.c beside this file.
compile() {
    local name=$1
    shift
    "${CC:-cc}" -D_GNU_SOURCE -O2 -Wall -Wextra -Werror -o "$LAB/$name" "${BASH_SOURCE%/*}/$name.c" "$@"
}

# psk FILE: a fresh key for everyone of the network, as "identity:key", readable by its owner only.
psk() {
    (umask 077 && echo "lab:$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" >"$1")
}

# urgent VARIABLE HOST COMMAND…: as `start`; with FIFO set it comes, with all its threads, before others of this
# machine.
urgent() {
    local variable=$1 name=$2
    shift 2
    start "$variable" "$name" ${FIFO:+chrt -f 20} "$@"
}

# finished ID NAME: waits for that process, which must not fail.
finished() { wait "$1" || fail "$2 failed"; }
