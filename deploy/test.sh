#!/usr/bin/env bash
# Installs what the tests need and runs all of them. The last line counts: N passed, N failed.
# Before it stands what could not be run here, and why. Lanes by name: deploy/test.sh [format] [build]
# [unit] [simulate] [footprint] [network] [examples] [hostile] [soak] [demo] [benchmarks] [lab] [behind] [debian13]
# [image] [arm64];
# without names, all of these. `deploy/test.sh quick` is for the inner loop: format, the tests that take no time
# and a few random worlds, in under three minutes where the last build is there.
# Chains of lanes that are joined by + run side by side: most of them wait more than they compute. A chain that
# begins with & runs beside all that comes after it.
set -uo pipefail
. "$(dirname "$0")/common.sh"
. deploy/lanes.sh

lanes=("$@")
[ ${#lanes[@]} -gt 0 ] || lanes=(format '&debian13,arm64' '&image' build '&simulate' unit+footprint network,hostile,soak,demo,examples,benchmarks+lab+behind)
for lane in $(tr '&+,' '   ' <<<"${lanes[*]}"); do
    [ "$(type -t "lane_$lane")" = function ] || die "no lane is called $lane; see the head of deploy/test.sh"
done
passed=0 failed=0 not_run=() behind_all=()
# How many random worlds the simulator runs.
SEEDS=${SEEDS:-500}
logs=$TOP/.build-logs
mkdir -p "$logs"
rm -f "$logs"/*.out

need "${BUILD_PACKAGES[@]}" "${NETWORK_PACKAGES[@]}"
need_swift
echo "swift: $(swift --version 2>/dev/null | head -1)"

for lane in "${lanes[@]}"; do
    started=$SECONDS
    processor_seconds
    processor=$PROCESSOR_SECONDS
    echo "== $lane"
    case $lane in
        '&'*)
            start_chain "${lane#&}"
            behind_all+=("${lane#&}")
            ;;
        *[+,]*) side_by_side ${lane//+/ } ;;
        *) "lane_$lane" || true ;;
    esac
    processor_seconds
    echo "   $((SECONDS - started)) s, $((PROCESSOR_SECONDS - processor)) s of a core"
done

wait
for lane in $(tr ',' ' ' <<<"${behind_all[*]}"); do add_sum "$lane"; done

# What failed in chains, once more, so that it is found at the end of a long output.
grep -H '^FAILED' "$logs"/*.out 2>/dev/null | sed 's|.*/\([^/]*\)\.out:FAILED|failed in \1:|'

for reason in "${not_run[@]}"; do echo "not run: $reason"; done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
