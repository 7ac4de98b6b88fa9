# Sourced by the cases about `rivulet send` and `rivulet receive`.

# Nothing of the machine's own: no Avahi, no Bluetooth. A rate, so that a transfer lasts.
export RIVULET_NEARBY_AVAHI=off RIVULET_NEARBY_BLUETOOTH=off

# file NAME MEGABYTES: $LAB/NAME with random bytes.
file() { head -c "$(($2 * 1000000))" /dev/urandom >"$LAB/$1"; }

# slow HOST NUMBER MBIT: what the host sends over this link.
slow() { in_host "$1" tc qdisc replace dev "eth$2" root tbf rate "$3mbit" burst 128kb latency 50ms; }

# receive HOST [ARGUMENT…]: in the background, into $LAB/in_HOST; it is there when it says so.
receive() {
    local host=$1
    shift
    mkdir -p "$LAB/in_$host"
    start "receive_$host" "$host" env HOME="$LAB/home_$host" "$BIN/rivulet" receive \
        --into "$LAB/in_$host" --name "$host" "${SERVICE[@]}" "$@"
    until_true 30 grep -qs "^receiving as" "$LAB/receive_$host.err" || fail "$host does not receive"
}

# sending HOST VARIABLE [ARGUMENT…]: `rivulet send` in the background.
sending() {
    local host=$1 variable=$2
    shift 2
    start "$variable" "$host" env HOME="$LAB/home_$host" "$BIN/rivulet" send --name "$host" \
        "${SERVICE[@]}" "$@"
}

# ends VARIABLE STATUS PATTERN: the process in the background ends so, and says that.
ends() {
    local status=0
    wait "${!1}" || status=$?
    [ $status = "$2" ] && grep -qE -- "$3" "$LAB/$1.out" "$LAB/$1.err" && return
    echo "status $status:"
    cat "$LAB/$1.out" "$LAB/$1.err"
    return 1
}

# arrived NAME PATH: the file is there, byte for byte.
arrived() { cmp "$LAB/$1" "$2"; }

# part HOST: bytes of files that are not whole yet.
part() { find "$LAB/in_$1/.rivulet-partial/" -name '*.part' -printf '%s\n' 2>/dev/null | awk '{ n += $1 } END { print n + 0 }'; }

# has_part HOST BYTES: at least so many are there.
has_part() { [ "$(part "$1")" -ge "$2" ]; }

# under_way HOST BYTES: so many more come.
under_way() {
    local before
    before=$(part "$1")
    until_true 40 has_part "$1" $((before + $2))
}

# whole HOST NUMBER: so many files are there, and nothing half-written.
whole() {
    [ "$(find "$LAB/in_$1" -maxdepth 1 -type f | wc -l)" = "$2" ] &&
        [ -z "$(find "$LAB/in_$1" -name '*.part*')" ]
}
SERVICE=(--service files)
