#!/usr/bin/env bash
# Writes deploy/function-order anew: the functions that callgrind saw in an agent with 20 channels which is a relay
# between a collector and two agents. First those that pass a frame on, then those of its daily work, then those of its
# start. As root, with BIN.
set -euo pipefail
cd "$(dirname "$0")/.."
. deploy/common.sh
need valgrind
release_build
. Tests/Network/lab.sh
trap lab_down EXIT
host c m a b
lan 1 c m
lan 2 m a
lan 3 m b
secret "$LAB/secret"
{
    printf time
    for i in $(seq 20); do printf ',channel%s [Cel]' "$i"; done
    echo
    for second in $(seq 0 60); do
        printf '%s' "$second"
        for i in $(seq 20); do printf ',%s.%s' "$((20 + second % 5))" "$i"; done
        echo
    done
} >"$LAB/day.csv"
sensors="sensors:
  - {driver: replay, file: $LAB/day.csv, every: 1s}"
config c collector
for name in m a b; do config $name agent "$sensors"; done
start collect c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format json --every 1s
start middle m valgrind --tool=callgrind --demangle=no --callgrind-out-file="$LAB/calls" \
    "$BIN/rivulet-agent" --config "$LAB/m.yaml"
agent a
agent b
sleep 25
callgrind_control --dump "$middle" >/dev/null
sleep 25
callgrind_control --dump "$middle" >/dev/null
stop "$agent_b"
start send b "$BIN/latency" send "$LAB/b.yaml" 100000 30
sleep 20
kill -TERM "$middle"
wait "$middle" || true
[ "$(sort -u "$LAB/collect.out" | grep -c channel20)" -gt 20 ] || die "the collector heard nothing"

# counted FILE: names with the instructions of their own, most first.
counted() {
    awk '
        /^fn=/ {
            id = $0; sub(/^fn=/, "", id); sub(/\).*/, ")", id)
            if (match($0, /\) /)) names[id] = substr($0, RSTART + 2)
            current = id; next
        }
        /^c(fn|ob|fi|fl)=/ {
            if (/^cfn=/ && match($0, /\) /)) {
                id = $0; sub(/^cfn=/, "", id); sub(/\).*/, ")", id); names[id] = substr($0, RSTART + 2)
            }
            next
        }
        /^calls=/ { skip = 1; next }
        /^[0-9+*-]/ { if (skip) { skip = 0; next } count[current] += $2 }
        END { for (id in count) if (count[id] > 0) print count[id], names[id] }' "$1" | sort -rn | sed "s/^[^ ]* //; s/'[0-9]*\$//"
}

# called FILE: names of what was called a thousand times, most often first.
called() {
    awk '
        /^c?fn=/ {
            id = $0; sub(/^c?fn=/, "", id); sub(/\).*/, ")", id)
            if (match($0, /\) /)) names[id] = substr($0, RSTART + 2)
            callee = id
        }
        /^calls=/ { split($1, part, "="); count[callee] += part[2] }
        END { for (id in count) if (count[id] >= 1000) print count[id], names[id] }' "$1" | sort -rn | sed "s/^[^ ]* //; s/'[0-9]*\$//"
}

nm "$BIN/rivulet-agent" | awk '{ print $3 }' | sort -u >"$LAB/symbols"
{
    echo "# The functions that a working agent runs, for lld's --symbol-ordering-file: side by side they are on fewer pages, so"
    echo "# that less of the program is resident, and less of a cold cache is missed. Names that are no longer there do no harm."
    echo "# Made by Benchmarks/function_order.sh."
    { called "$LAB/calls"; for dump in "$LAB/calls.2" "$LAB/calls.1"; do counted "$dump"; done; } | awk '!seen[$0]++' |
        awk 'NR == FNR { known[$0] = 1; next } $0 in known' "$LAB/symbols" -
} >"$LAB/order"
[ "$(called "$LAB/calls" | wc -l)" -gt 200 ] || die "the relay passed too few frames on"
[ "$(wc -l <"$LAB/order")" -gt 1000 ] || die "too few functions: $(wc -l <"$LAB/order")"
cp "$LAB/order" deploy/function-order
wc -l deploy/function-order
