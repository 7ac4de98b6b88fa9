#!/usr/bin/env bash
# Runs each of these cases in a lab of its own, where we are: in the virtual machine, or on the host.
# One line a case: `ok`, `FAILED`, or `not run` with the reason (a case ends with 77 then).
set -uo pipefail
for file; do
    name=$(basename "$file" .sh)
    seconds=$(sed -n 's/^# at most \([0-9]*\) s$/\1/p' "$file")
    started=$(date +%s%N)
    output=$(timeout -k 10 "${seconds:-240}" bash Tests/Network/case.sh "$file" 2>&1)
    case $? in
        0)
            echo "ok     $name ($((($(date +%s%N) - started) / 1000000)) ms)"
            echo "$output" | sed -n 's/^measured: /       /p'
            ;;
        77) echo "not run $name: $(echo "$output" | tail -n 1)" ;;
        *)
            echo "FAILED $name"
            echo "$output" | tail -n 60 | sed 's/^/       /'
            ;;
    esac
done
