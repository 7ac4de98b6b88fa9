#!/usr/bin/env bash
# Rogue members and outsiders against real agents, relays and collectors, in network namespaces: a case
# says what must hold under which attack. As root. Closes with `N passed, N failed`.
# Tests/Hostile/run.sh [NAME…] runs only those. BIN holds rivulet, rivulet-agent and rogue.
set -uo pipefail
cd "$(dirname "$0")/../.."
BIN=${BIN:?folder with the release build}
export BIN
# How many cases run side by side: each has namespaces and folders of its own.
AT_ONCE=${AT_ONCE:-2}
results=$(mktemp -d /tmp/rivulet-hostile.XXXXXX)
trap 'rm -rf "$results"' EXIT

# attempt FILE NAME: one run of a case, with a line that says how it went.
attempt() {
    local started output
    started=$(date +%s%N)
    if output=$(timeout -k 10 120 bash Tests/Network/case.sh "$1" 2>&1); then
        echo "ok     $2 ($((($(date +%s%N) - started) / 1000000)) ms)"
        echo "$output" | sed -n 's/^measured: /       /p'
    else
        echo "FAILED $2"
        echo "$output" | tail -n 60 | sed 's/^/       /'
        return 1
    fi
}

# judge FILE NAME: a case that fails is run once more, and both is said: machines are shared.
judge() {
    if attempt "$1" "$2" || { echo "again: $2" && attempt "$1" "$2"; }; then
        echo passed >"$results/$2"
    fi
}

count=0 running=0
for file in Tests/Hostile/cases/*.sh; do
    name=$(basename "$file" .sh)
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    count=$((count + 1))
    if [ "$running" -ge "$AT_ONCE" ]; then
        wait -n
        running=$((running - 1))
    fi
    { judge "$file" "$name" >"$results/.$name"; cat "$results/.$name"; } &
    running=$((running + 1))
done
wait
passed=$(find "$results" -type f ! -name '.*' | wc -l)
echo "$passed passed, $((count - passed)) failed"
[ "$passed" = "$count" ] && [ "$passed" -gt 0 ]
