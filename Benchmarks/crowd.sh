# Sourced by join.sh and its peer: processes in `crowds`, each of which stops itself once it is ready, is continued with
# all others, and prints lines "connected N of M after T ms" into $LAB/crowd_NUMBER.out.

all_stopped() {
    local id
    for id in "${crowds[@]}"; do [ "$(awk '{ print $3 }' "/proc/$id/stat" 2>/dev/null)" = T ] || return 1; done
}

# Those lines of all processes, as lines "T N" of all members together.
together() {
    awk '$1 == "connected" { print $6, FILENAME, $2 }' "$LAB"/crowd_*.out | sort -n |
        awk '{ sum += $3 - now[$2]; now[$2] = $3; print $1, sum }'
}

# all_connected MEMBERS
all_connected() { [ "$(together | tail -1 | cut -d' ' -f2)" = "$1" ]; }
