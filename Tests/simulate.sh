#!/usr/bin/env bash
# Builds the simulator in release and runs seeds of it, one world each:
#
#     Tests/simulate.sh [readings|join|power|liar] FIRST LAST
#     Tests/simulate.sh hash SEED
#
# Closes with `N passed, N failed`; a seed that fails prints the line that replays it.
set -euo pipefail
. "$(dirname "$0")/../deploy/common.sh"
need "${BUILD_PACKAGES[@]}"
need_swift
swift build -c release --product simulate >.build-simulate.log 2>&1 || {
    tail -n 30 .build-simulate.log
    die "the simulator could not be built"
}
exec "$(swift build -c release --show-bin-path)/simulate" "$@"
