# Sourced by the scripts that run cases: each case is a file, runs in a lab of its own and says why it failed.
# CASE is what runs one, REPORT_LINES how much of what a failed one said is printed.
CASE=${CASE:-Tests/Network/case.sh}
REPORT_LINES=${REPORT_LINES:-60}
# What a case may take.
CASE_SECONDS=${CASE_SECONDS:-300}

# attempt FILE NAME [WORD]: one run of a case, with a line that says how it went, in that word if it failed. One
# that ends with 77 could not be run, for the reason that it said last.
attempt() {
    local started said output status=0
    started=$(date +%s%N)
    # Not through a pipe: what a case leaves behind would hold it open.
    said=$(mktemp /tmp/rivulet-case.XXXXXX)
    timeout -k 10 "$CASE_SECONDS" bash "$CASE" "$1" >"$said" 2>&1 || status=$?
    output=$(cat "$said")
    rm -f "$said"
    if [ "$status" = 0 ]; then
        echo "ok     $2 ($((($(date +%s%N) - started) / 1000000)) ms)"
        echo "$output" | sed -n 's/^measured: /       /p'
    elif [ "$status" = 77 ]; then
        echo "not run $2: $(echo "$output" | tail -n 1)"
        return 77
    else
        echo "${3:-FAILED} $2"
        echo "$output" | tail -n "$REPORT_LINES" | sed 's/^/       /'
        return 1
    fi
}

# judge FILE NAME FOLDER: a case that fails is run once more, and both is said: machines are shared, and a
# case has time limits of its own. One that passed leaves a file in the folder.
judge() {
    local status=0
    attempt "$1" "$2" "tried again:" || status=$?
    [ "$status" = 77 ] && : >"$3/.not-run-$2" && return
    if [ "$status" = 0 ] || attempt "$1" "$2"; then
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

# case_name FILE: what it is called.
case_name() { basename "${1%/test.sh}" .sh; }

# is_wanted CASE [NAME…]: whether its name is among these, if there are any.
is_wanted() { [ $# -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]; }

# run_cases AT_ONCE FOLDER [NAME…]: all cases in a folder, or only those, so many side by side. Closes with
# `N passed, N failed`, and fails if any did or none was run.
run_cases() {
    local at_once=$1 folder=$2 results file name count=0 running=0 passed
    shift 2
    results=$(mktemp -d /tmp/rivulet-cases.XXXXXX)
    for file in $(case_files "$folder"); do
        name=$(case_name "$file")
        is_wanted "$name" "$@" || continue
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
    count=$((count - $(find "$results" -name '.not-run-*' | wc -l)))
    rm -rf "$results"
    echo "$passed passed, $((count - passed)) failed"
    [ "$passed" = "$count" ] && [ "$passed" -gt 0 ]
}
