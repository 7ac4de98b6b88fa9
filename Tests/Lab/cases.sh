#!/usr/bin/env bash
# Runs each of these cases in a lab of its own, where we are: in the virtual machine, or on the
# host. One line a case: `ok`, `FAILED`, or `not run` with the reason (a case ends with 77 then).
#
# A case that fails because the kernel or the emulator of Bluetooth crashed has shown nothing. Then
# this ends with 76, and says which case it was; run.sh boots again for it and for the rest.
set -uo pipefail

# crash: the line with which the kernel reports a crash of its own or of the emulator.
crash() {
    [ -n "${LAB_GUEST:-}" ] || return 1
    # Not through a pipe: grep ends before dmesg has said all, and pipefail would take that for a failure.
    grep -m 1 -E 'kernel BUG at|list_(del|add) (corruption|double add)|lib/list_debug|Oops:|btvirt.* segfault' <(dmesg)
}

# Not through a pipe: what a case leaves behind would hold it open.
said=$(mktemp)
trap 'rm -f "$said"' EXIT

for file; do
    [ -z "${LAB_GUEST:-}" ] || dmesg -C
    name=$(basename "$file" .sh)
    seconds=$(sed -n 's/^# at most \([0-9]*\) s$/\1/p' "$file")
    started=$(date +%s%N)
    timeout -k 10 "${seconds:-600}" bash Tests/Network/case.sh "$file" >"$said" 2>&1 </dev/null
    status=$?
    output=$(cat "$said")
    case $status in
        0)
            echo "ok     $name ($((($(date +%s%N) - started) / 1000000)) ms)"
            echo "$output" | sed -n 's/^measured: /       /p'
            ;;
        77) echo "not run $name: $(echo "$output" | tail -n 1)" ;;
        *)
            if line=$(crash); then
                echo "crashed in $name: $line"
                exit 76
            fi
            echo "FAILED $name"
            echo "$output" | tail -n 90 | sed 's/^/       /'
            ;;
    esac
done
