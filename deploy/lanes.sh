# Sourced by test.sh: the lanes. Each adds to `passed` and `failed`, leaves its log in $logs and says
# in `not_run` what it could not run, and why.

# How our own programs sum up.
SUMMARY='^[0-9]+ passed, [0-9]+ failed$'

# count PASSED FAILED
count() {
    passed=$((passed + $1))
    failed=$((failed + $2))
}

# expect NAME COMMAND…: one check, one line.
expect() {
    local name=$1
    shift
    if "$@"; then
        echo "ok     $name"
        count 1 0
    else
        echo "FAILED $name"
        count 0 1
    fi
}

# side_by_side CHAIN…: at once, each a list of lanes with commas that run one after the other. What a lane said
# is printed when it ended.
side_by_side() {
    local chain lane running=()
    for chain; do
        start_chain "$chain"
        running+=($!)
    done
    wait "${running[@]}"
    for lane in ${*//,/ }; do add_sum "$lane"; done
}

# start_chain CHAIN: in the background. Lanes that only compute stand back for those that wait for a moment to come.
start_chain() {
    local chain=$1 patience=0 lane
    case $chain in debian13* | simulate* | arm64*) patience=10 ;; image*) patience=5 ;; esac
    for lane in ${chain//,/ }; do rm -f "$logs/$lane.sum"; done
    (
        renice -n "$patience" -p "$BASHPID" >/dev/null
        for lane in ${chain//,/ }; do alone "$lane"; done
    ) &
}

# add_sum LANE: what it counted; a lane that did not come to its end is a failure.
add_sum() {
    local reason
    if [ ! -s "$logs/$1.sum" ]; then
        echo "FAILED lane $1: it did not come to its end"
        count 0 1
        return
    fi
    count $(head -n 1 "$logs/$1.sum")
    while read -r reason; do not_run+=("$reason"); done < <(tail -n +2 "$logs/$1.sum")
}

# processor_seconds: sets PROCESSOR_SECONDS to what the children of this shell have used of a core so far.
processor_seconds() {
    local stat
    read -ra stat <"/proc/$BASHPID/stat"
    PROCESSOR_SECONDS=$(((stat[15] + stat[16]) / $(getconf CLK_TCK)))
}

# alone LANE: beside others; leaves what it counted in $logs/LANE.sum.
alone() {
    local lane=$1 started=$SECONDS processor reason
    passed=0 failed=0 not_run=()
    processor_seconds
    processor=$PROCESSOR_SECONDS
    "lane_$lane" >"$logs/$lane.out" 2>&1
    processor_seconds
    {
        echo "$passed $failed"
        for reason in "${not_run[@]}"; do echo "$reason"; done
    } >"$logs/$lane.sum"
    {
        flock 9
        echo "-- $lane"
        cat "$logs/$lane.out"
        echo "   $((SECONDS - started)) s, $((PROCESSOR_SECONDS - processor)) s of a core"
    } 9>"$logs/printing"
}

# count_swift_testing LOG STATUS: adds what a run of Swift Testing counted; a run that did not come to
# its end is a failure.
count_swift_testing() {
    local total issues
    total=$(sed -n 's/.*Test run with \([0-9]*\) tests\{0,1\}.*/\1/p' "$1" | tail -1)
    issues=$(grep -cE '^. Test [^ ]+.* failed after' "$1")
    if [ -z "$total" ]; then
        echo "FAILED $(basename "$1"): the tests did not come to their end"
        tail -n 40 "$1"
        count 0 1
        return
    fi
    [ "$2" = 0 ] || [ "$issues" -gt 0 ] || issues=1
    [ "$issues" = 0 ] || { echo "FAILED $(basename "$1")" && grep -E '✘|error:|recorded an issue' "$1" | head -60; }
    count $((total - issues)) "$issues"
    echo "   $((total - issues)) passed, $issues failed"
}

# no_warnings LOG: none in our own files.
no_warnings() { ! grep -E "^$TOP/(Sources|Tests|Benchmarks)/.*: (warning|error):" "$1" | sort -u; }

lane_format() {
    expect "format" swift format lint --strict --recursive Package.swift Sources Tests Benchmarks Examples
    expect "shell scripts parse" parse_scripts
    expect "nothing of the build is committed" nothing_built_is_committed
}

parse_scripts() {
    local script
    for script in .ci/run deploy/*.sh Tests/*.sh Tests/*/*.sh Tests/*/cases/*.sh Benchmarks/*.sh Examples/*.sh Examples/*/*.sh; do
        bash -n "$script" || return 1
    done
}

nothing_built_is_committed() {
    git rev-parse >/dev/null 2>&1 || return 0
    ! git ls-files | grep -E '^\.build|Package\.resolved|\.(o|a|so)$'
}

# The build that tests and examples are run from.
lane_build() {
    tests_swift build --build-tests --explicit-target-dependency-import-check error >"$logs/build" 2>&1
    expect "build" [ $? = 0 ] || { tail -n 40 "$logs/build"; return 1; }
    expect "no warnings" no_warnings "$logs/build"
    built=1
}

lane_unit() {
    [ -n "${built:-}" ] || lane_build || return
    tests_swift test --skip-build --disable-xctest >"$logs/unit" 2>&1
    count_swift_testing "$logs/unit" $?
    documentation
}

# DocC's opinion of the build just made, in seconds. Debian's Swift has no docc.
documentation() {
    if ! command -v docc >/dev/null; then
        not_run+=("documentation: no docc on PATH; it comes with Swift from swift.org")
        return
    fi
    MODULES=$TESTS_BUILD/debug/Modules deploy/docs.sh >"$logs/docs" 2>&1
    expect "documentation" [ $? = 0 ] || tail -n 40 "$logs/docs"
}

# build_release: rivulet and rivulet-agent into $BIN, as release_build; a failure ends the lane, not the run.
build_release() { BIN=${BIN:-$(release_build >&2 && echo "$BIN")} && [ -n "$BIN" ] && export BIN; }

# summary LANE: counts the line with which its log in $logs closes, and notes what the log calls `not run`.
summary() {
    local line
    line=$(grep -E "$SUMMARY" "$logs/$1" | tail -1)
    if [ -n "$line" ]; then
        count_line "$line"
    else
        echo "FAILED lane $1: it did not come to its sum"
        count 0 1
    fi
    while read -r line; do
        not_run+=("$1: ${line#not run }")
    done < <(grep '^not run ' "$logs/$1")
}

lane_footprint() {
    expect "release build" build_release || return
    expect "no Foundation and no regular expressions in the agent" no_foundation
    as_root env "BIN=$BIN" bash Tests/Footprint/check.sh >"$logs/footprint" 2>&1
    local status=$?
    cat "$logs/footprint"
    expect "footprint within the ledger" [ $status = 0 ]
}

no_foundation() {
    nm -C "$BIN/rivulet-agent" >"$logs/symbols" &&
        ! grep -m 3 -E 'Foundation|_RegexParser' "$logs/symbols" &&
        ! ldd "$BIN/rivulet-agent" | grep -Ei 'foundation|libswift'
}

lane_network() {
    expect "release build for the network" build_release || return
    as_root env "BIN=$BIN" Tests/Network/run.sh 2>&1 | tee "$logs/network"
    summary network
}

# Rogue members and outsiders against real processes.
lane_hostile() {
    expect "release build for the rogue" build_release || return
    as_root env "BIN=$BIN" Tests/Hostile/run.sh 2>&1 | tee "$logs/hostile"
    summary hostile
}

# Emulated hardware, in a virtual machine that boots once a group. Avahi is among the network cases.
lane_lab() {
    expect "release build for the lab" build_release || return
    timeout -k 10 3000 Tests/Lab/run.sh bluetooth relay sensors wifi 2>&1 | tee "$logs/lab"
    summary lab
}

# What stands behind a collector: real servers, brokers, databases, a browser.
lane_behind() {
    expect "release build for what stands behind" build_release || return
    as_root env "BIN=$BIN" Tests/Behind/run.sh 2>&1 | tee "$logs/behind"
    summary behind
}

# Packages, images and updates on whole systems.
lane_image() {
    expect "release build for the packages" build_release || return
    as_root env "BIN=$BIN" Tests/Image/run.sh 2>&1 | tee "$logs/image"
    summary image
}

# The programs in Examples/ as people use them, in terminals; from the unit lane's build.
lane_examples() {
    as_root env -u BIN Examples/run.sh 2>&1 | tee "$logs/examples"
    summary examples
}

# Each of the measurements once and short: that they run, not what they come to.
lane_benchmarks() {
    expect "release build for the benchmarks" build_release || return
    as_root env "BIN=$BIN" RUNS=1 INGEST_SECONDS=3 READINGS=300000 JOIN=40 Benchmarks/run.sh \
        latency recovery relay ingest store join idle start 2>&1 | tee "$logs/benchmarks"
    expect "they run to their end" [ "${PIPESTATUS[0]}" = 0 ]
    local figure
    for figure in 'one way over 3 relays, p50, to plain UDP' 'relay carrier: longest gap' \
        "a relay's CPU to the forwarder's" 'into a viewer on one processor, 20 a report' \
        'into a store on one processor, 20 a report' 'bulk commits' '40 agents, connected' \
        'agent with 20 channels at 1 Hz, wakeups a second' 'start to connected, kept identity'; do
        expect "$figure" grep -qE "^$figure: [a-z ]*[0-9.]*[1-9]" "$logs/benchmarks"
    done
}

# A minute of everything going wrong; by hand it runs as long as one likes.
lane_soak() {
    expect "release build for the soak" build_release || return
    as_root env "BIN=$BIN" Tests/soak.sh --minutes 1 --seed "${SOAK_SEED:-1}" 2>&1 | tee "$logs/soak"
    expect "nothing lost and nothing double" [ "${PIPESTATUS[0]}" = 0 ]
}

# The first of README's two commands, as a user runs it.
lane_demo() {
    # Its own folder: other lanes have agents at work.
    local folder
    folder=$(mktemp -d /tmp/rivulet.XXXXXX)
    LAB=$folder deploy/demo.sh >"$logs/demo" 2>&1
    expect "the demo ends well" [ $? = 0 ]
    expect "at least three tables" [ "$(grep -cE 'NODE +CHANNEL' "$logs/demo")" -ge 3 ]
    expect "south is read through the relay" grep -qE '^ *south ' "$logs/demo"
    expect "nothing is left running" [ -z "$(pgrep -f "$folder/.*\.yaml")" ]
}

# The tests that know of the processor, cross-compiled, as arm64 programs in Debian 13's root.
lane_arm64() {
    as_root deploy/test-arm64.sh >"$logs/arm64" 2>&1
    count_swift_testing "$logs/arm64" $?
}

# Debian 13's own compiler, in a root of its own below .build-debian13.
lane_debian13() {
    if is_debian13; then
        echo "   this is Debian 13 with its own compiler: the unit lane was it"
        return
    fi
    as_root deploy/debian13.sh >"$logs/debian13" 2>&1
    local status=$?
    grep -E "warning:|error:" "$logs/debian13" | sort -u | head -20
    count_swift_testing "$logs/debian13" $status
}

# Random worlds with random faults, without and with journals and stores; 200 nodes that join, 200 that
# start at once; planned sites of each shape, three of them with a thousand nodes; on both cores. These run in the
# release build, which is a fifth faster than the tests'. One seed runs in both builds, and a few worlds in the tests'
# build.
lane_simulate() {
    expect "release build for the simulator" build_release || return
    local simulate=$BIN/simulate half=$((SEEDS / 2)) first second checked
    checked=$(simulator 2>"$logs/simulate-build")
    expect "the tests' build of the simulator" [ -x "$checked" ] || { tail -n 40 "$logs/simulate-build"; return; }
    simulate_part 1 $half 1 >"$logs/simulate-1" 2>&1 &
    first=$!
    simulate_part $((half + 1)) "$SEEDS" 2 >"$logs/simulate-2" 2>&1 &
    second=$!
    wait $first
    wait $second
    local log line
    for log in "$logs/simulate-1" "$logs/simulate-2"; do
        cat "$log"
        [ "$(grep -cE "$SUMMARY" "$log")" = 9 ] || count 0 1
        while read -r line; do count_line "$line"; done < <(grep -E "$SUMMARY" "$log")
    done
    local traced again
    traced=$("$simulate" hash 77) again=$("$checked" hash 77)
    expect "the same seed gives the same trace in both builds" [ -n "$traced" -a "$traced" = "$again" ]
    # Only the tests' build checks for overlapping accesses to one value (exclusivity).
    for line in "1 8" "readings 1 4"; do
        # shellcheck disable=SC2086
        "$checked" $line >"$logs/simulate-checked" 2>&1
        cat "$logs/simulate-checked"
        line=$(grep -E "$SUMMARY" "$logs/simulate-checked" || echo "0 passed, 1 failed")
        count_line "$line"
    done
}

# What takes long in a debug build: hundreds of random worlds, every call that can fail, tables filled to the brim.
EXHAUSTIVE='neighboursAgreeOnWhatWasTold|waysAreLoopFreeAlways|inTheEndOneChannelIsInUse|bothSidesMeetOnTheCheapest'
EXHAUSTIVE+='|twoHundredNodesStartingAtOnce|noiseNeverTraps|theTablesAgreeAfterEachStep|manyAgentsTogetherStayWithin'
EXHAUSTIVE+='|theTableOfQuotasIsBounded|theTablesAreBounded|birthsThatAlternateWhileTheStore|itRemembersSoManyNodes'
EXHAUSTIVE+='|whatIsMeasuredIsStoredOnceOrKnown|eachCallThatFailsLosesNothing|losingPowerAtAnyCall|flippedBytesNeverTrap'
EXHAUSTIVE+='|damagedSegmentsNeverYield|whomOnlyAFullNodeReachesIsNotShutOut|whoComesLateIsNotShutOut'
EXHAUSTIVE+='|everythingArrivesOrAnErrorIsTold|manyAtOnceArriveWhole|PartAttackTests/alwaysAsADictionary|^FuzzTests'

# The inner loop: not among the lanes that run without a name, which do all of it and more.
lane_quick() {
    lane_format
    tests_swift build --build-tests >"$logs/build" 2>&1
    expect "build" [ $? = 0 ] || { grep -E 'error|warning' "$logs/build" | sort -u | head -n 20; return; }
    expect "no warnings" no_warnings "$logs/build"
    tests_swift test --skip-build --disable-xctest --skip "$EXHAUSTIVE" >"$logs/unit" 2>&1
    count_swift_testing "$logs/unit" $?
    expect "a few random worlds" "$(simulator 2>"$logs/simulate-build")" 1 8
    expect "a few random journals" "$(simulator 2>/dev/null)" readings 1 8
}

# simulate_part FIRST LAST PART: nine summaries. What a planned site is known to miss (deploy/simulate.md) is shown
# all the same.
simulate_part() {
    "$simulate" "$1" "$2"
    "$simulate" readings "$1" "$2"
    "$simulate" join $((2 * $3 - 1)) $((2 * $3))
    "$simulate" power "$3" "$3"
    if [ "$3" = 1 ]; then
        "$simulate" site line 20
        "$simulate" site ring 8
        "$simulate" site random 60 except paths link
        "$simulate" quiet line 1000 1 0 16
        "$simulate" quiet lan 200 1 0 16
    else
        "$simulate" site lan 60 1 0 2
        "$simulate" site grid 49 1 0 2
        "$simulate" site sites 100 except paths death link
        "$simulate" quiet ring 1000 1 0 16
        "$simulate" quiet grid 1000 1 0 16
    fi
}

# count_line 'N passed, N failed'
count_line() { count "${1%% passed*}" "$(echo "$1" | sed 's/.*, \([0-9]*\) failed/\1/')"; }
