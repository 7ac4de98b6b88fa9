#!/usr/bin/env bash
# Real processes, real packets, in network namespaces: direct, relay, relay killed, partition and heal,
# wrong secret, foreign network, one address family. As root. Closes with `N passed, N failed`.
# Tests/Network/run.sh [NAME…] runs only those.
set -uo pipefail
cd "$(dirname "$0")/../.."
BIN=${BIN:?folder with the release build}
export BIN
passed=0 failed=0

# A test is a file; it runs in a lab of its own and says why it failed.
for file in Tests/Network/cases/*.sh; do
    name=$(basename "$file" .sh)
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    started=$(date +%s%N)
    if output=$(timeout -k 10 120 bash Tests/Network/case.sh "$file" 2>&1); then
        passed=$((passed + 1))
        echo "ok     $name ($((($(date +%s%N) - started) / 1000000)) ms)"
        echo "$output" | sed -n 's/^measured: /       /p'
    else
        failed=$((failed + 1))
        echo "FAILED $name"
        echo "$output" | tail -n 60 | sed 's/^/       /'
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
