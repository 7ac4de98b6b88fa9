#!/usr/bin/env bash
# Rivulet against the real kernel and real daemons, with emulated hardware: run.sh [GROUP|CASE…]
# A group is what the cases' file names begin with (Tests/Lab/cases/GROUP-*.sh), a case a whole
# file name without .sh; without names, all. `avahi` are the network cases of that name: daemons need namespaces, and no virtual
# machine. Installs what it needs, boots a throwaway virtual machine for each group, closes with
# `N passed, N failed`. What cannot be run here is said, with the reason; with LAB_REQUIRED=1 that
# is a failure.
set -uo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
. Tests/Lab/setup.sh

passed=0 failed=0 not_run=0 WHY=

# not_run NAME REASON
not_run() {
    echo "not run $1: $2"
    not_run=$((not_run + 1))
}

# none_run FILE…: none of these cases, because of $WHY.
none_run() {
    local file
    for file; do not_run "$(basename "$file" .sh)" "$WHY"; done
}

# programs: the release build in $BIN, built if nobody said where it is.
programs() {
    [ -z "${BIN:-}" ] || return 0
    have "${BUILD_PACKAGES[@]}" || return
    (need_swift) || { WHY="no Swift compiler"; return 1; }
    RIVULET_RELEASE=1 swift build "${RELEASE_FLAGS[@]}" >"$CACHE/build.log" 2>&1 || {
        WHY="the build failed: .build-lab/build.log"
        return 1
    }
    BIN=$(RIVULET_RELEASE=1 swift build "${RELEASE_FLAGS[@]}" --show-bin-path)
}

# count_cases LOG FILE…: what cases.sh said of these; a case of which it said nothing has failed.
count_cases() {
    local log=$1 file name
    shift
    for file; do
        name=$(basename "$file" .sh)
        if grep -q "^ok     $name " "$log"; then
            passed=$((passed + 1))
        elif grep -q "^not run $name: " "$log"; then
            not_run=$((not_run + 1))
        else
            failed=$((failed + 1))
            grep -q "^FAILED $name\$" "$log" && echo "FAILED $name" || echo "FAILED $name (it did not come to an end)"
        fi
    done
}

# comes_last FILE: whether it is marked as one that may take the machine with it.
comes_last() { head -n 3 "$1" | grep -q "^# comes last"; }

# has LOG WORDS: the log has a line that begins so.
has() { grep -qE "^$2( |:|\$)" "$1"; }

# run_in_guest NAME FILE…: a case that fails is run once more in a fresh machine, and one in which the
# guest's kernel or the emulator crashed at most twice more: on an emulated processor both have time
# limits of their own. What came through at the second attempt is said. One that is known to crash the
# machine ("comes last") is not run again after a crash. $BOOT: options of boot.sh.
run_in_guest() {
    local log=$CACHE/$1.log attempt file name left=() again=() crashed=()
    shift
    if ! setup_machine; then
        none_run "$@"
        return
    fi
    left=("$@")
    : >"$log"
    for attempt in 1 2 3; do
        echo "a machine is started for ${#left[@]} cases"
        [ "$attempt" = 1 ] || echo "again, in a fresh machine: $(basename -s .sh -a "${left[@]}" | paste -sd ' ')"
        as_root env "BIN=$BIN" bash Tests/Lab/boot.sh ${BOOT:-} -t $((60 + 600 * ${#left[@]} + ${ALARM_SECONDS:-0})) -- \
            env "BIN=$BIN" ${ALARM_SECONDS:+"ALARM_SECONDS=$ALARM_SECONDS"} "LAB_CACHE=$CACHE" bash Tests/Lab/cases.sh "${left[@]}" 2>&1 |
            tee -a "$log" | sed -u 's/^FAILED /missed: /'
        again=() crashed=()
        for file in "${left[@]}"; do
            name=$(basename "$file" .sh)
            if has "$log" "ok     $name" || has "$log" "not run $name"; then continue; fi
            [ "$(grep -c "^FAILED $name\$" "$log")" -lt 2 ] || continue
            if ! has "$log" "crashed in $name"; then
                again+=("$file")
            elif ! comes_last "$file"; then
                crashed+=("$file")
            fi
        done
        # What crashed comes last, so that it keeps nobody from his turn.
        left=("${again[@]}" "${crashed[@]}")
        [ ${#left[@]} -gt 0 ] || break
    done
    for file; do
        name=$(basename "$file" .sh)
        if has "$log" "crashed in $name" && ! has "$log" "ok     $name" && ! has "$log" "not run $name" &&
            [ "$(grep -c "^FAILED $name\$" "$log")" -lt 2 ]; then
            echo "not run $name: the kernel or the emulator crashed in it" | tee -a "$log"
        fi
    done
    count_cases "$log" "$@"
}

# run_group GROUP|CASE
run_group() {
    local group=${1%%-*} files=(Tests/Lab/cases/"$1"-*.sh) file in_guest=() in_memory=() on_host=() last=()
    [ ! -e "Tests/Lab/cases/$1.sh" ] || files=("Tests/Lab/cases/$1.sh")
    for file in "${files[@]}"; do
        [ -e "$file" ] || { echo "FAILED $1: there is no such case" && failed=$((failed + 1)); return; }
        case $(head -n 3 "$file") in
            *'# on the host'*) on_host+=("$file") ;;
            *'# in memory'*) in_memory+=("$file") ;;
            *'# comes last'*) last+=("$file") ;;
            *) in_guest+=("$file") ;;
        esac
    done
    if [ "$(type -t "setup_$group")" = function ] && ! "setup_$group"; then
        none_run "${on_host[@]}" "${in_guest[@]}" "${last[@]}" "${in_memory[@]}"
        return
    fi
    if [ ${#on_host[@]} -gt 0 ]; then
        as_root env "BIN=$BIN" bash Tests/Lab/cases.sh "${on_host[@]}" 2>&1 |
            tee "$CACHE/$group.log"
        count_cases "$CACHE/$group.log" "${on_host[@]}"
    fi
    in_guest+=("${last[@]}")
    [ ${#in_guest[@]} -eq 0 ] || run_in_guest "$group" "${in_guest[@]}"
    [ ${#in_memory[@]} -eq 0 ] || BOOT=-m run_in_guest "$group-in-memory" "${in_memory[@]}"
}

# run_avahi: on the host, as deploy/test.sh does among the network cases.
run_avahi() {
    local names summary
    names=$(for file in Tests/Network/cases/avahi-*.sh; do basename "$file" .sh; done)
    have "${NETWORK_PACKAGES[@]}" || { not_run avahi "$WHY"; return; }
    as_root env "BIN=$BIN" Tests/Network/run.sh $names 2>&1 | tee "$CACHE/avahi.log"
    read -r summary < <(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$CACHE/avahi.log")
    passed=$((passed + ${summary% *}))
    failed=$((failed + ${summary#* }))
}

groups=("$@")
[ ${#groups[@]} -gt 0 ] ||
    mapfile -t groups < <(
        echo avahi
        for file in Tests/Lab/cases/*.sh; do basename "${file%%-*}"; done | sort -u
    )
mkdir -p "$CACHE"
if programs; then
    for group in "${groups[@]}"; do
        case $group in
        avahi) run_avahi ;;
        *) run_group "$group" ;;
        esac
    done
else
    for group in "${groups[@]}"; do not_run "$group" "$WHY"; done
fi
[ "$not_run" = 0 ] || echo "$not_run not run"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && { [ -z "${LAB_REQUIRED:-}" ] || [ "$not_run" = 0 ]; }
