# Sourced by the scripts that run cases: each case is a file, runs in a lab of its own and says why it failed.
# CASE is what runs one, REPORT_LINES how much of what a failed one said is printed.
CASE=${CASE:-Tests/Network/case.sh}
REPORT_LINES=${REPORT_LINES:-60}

# attempt FILE NAME: one run of a case, with a line that says how it went.
attempt() {
    local started output
    started=$(date +%s%N)
    if output=$(timeout -k 10 120 bash "$CASE" "$1" 2>&1); then
        echo "ok     $2 ($((($(date +%s%N) - started) / 1000000)) ms)"
        echo "$output" | sed -n 's/^measured: /       /p'
    else
        echo "FAILED $2"
        echo "$output" | tail -n "$REPORT_LINES" | sed 's/^/       /'
        return 1
    fi
}

# judge FILE NAME FOLDER: a case that fails is run once more, and both is said: machines are shared, and a
# case has time limits of its own. One that passed leaves a file in the folder.
judge() {
    if attempt "$1" "$2" || { echo "again: $2" && attempt "$1" "$2"; }; then
        : >"$3/$2"
    fi
}

# case_files FOLDER: the cases in it: FOLDER/NAME/test.sh where there are such, else FOLDER/NAME.sh.
case_files() {
    if compgen -G "$1/*/test.sh" >/dev/null; then
        printf '%s\n' "$1"/*/test.sh
    else
        printf '%s\n' "$1"/*.sh
    fi
}

# run_cases AT_ONCE FOLDER [NAME…]: all cases in a folder, or only those, so many side by side. Closes with
# `N passed, N failed`, and fails if any did or none was run.
run_cases() {
    local at_once=$1 folder=$2 results file name count=0 running=0 passed
    shift 2
    results=$(mktemp -d /tmp/rivulet-cases.XXXXXX)
    for file in $(case_files "$folder"); do
        name=$(basename "${file%/test.sh}" .sh)
        [ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
        count=$((count + 1))
        if [ "$running" -ge "$at_once" ]; then
            wait -n
            running=$((running - 1))
        fi
        { judge "$file" "$name" "$results" >"$results/.$name"; cat "$results/.$name"; } &
        running=$((running + 1))
    done
    wait
    passed=$(find "$results" -type f ! -name '.*' | wc -l)
    rm -rf "$results"
    echo "$passed passed, $((count - passed)) failed"
    [ "$passed" = "$count" ] && [ "$passed" -gt 0 ]
}
