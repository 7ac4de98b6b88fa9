# Sourced by what runs cases; it defines `fail WORDS`, which leaves the case.

# must DESCRIPTION COMMAND…
must() {
    local what=$1
    shift
    "$@" || fail "$what"
}

# measured TEXT: a number worth reading; printed below the case's line.
measured() { echo "measured: $*"; }

# until_true SECONDS COMMAND…: waits until the command succeeds; looks every $POLL seconds.
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep "${POLL:-0.05}"
    done
}
