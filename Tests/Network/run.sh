#!/usr/bin/env bash
# Real processes, real packets, in network namespaces: direct, relay, relay killed, partition and heal,
# wrong secret, foreign network, one address family. As root. Closes with `N passed, N failed`.
# Tests/Network/run.sh [NAME…] runs only those. Builds first, unless BIN names a folder with the release build.
set -uo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
need_root
[ -n "${BIN:-}" ] || need "${NETWORK_PACKAGES[@]}"
release_build
export BIN
passed=0 failed=0

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

# A test is a file; it runs in a lab of its own and says why it failed. One that fails is run once more,
# and both is said: machines are shared, and a case has time limits of its own.
for file in Tests/Network/cases/*.sh; do
    name=$(basename "$file" .sh)
    [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
    if attempt "$file" "$name" || { echo "again: $name" && attempt "$file" "$name"; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
