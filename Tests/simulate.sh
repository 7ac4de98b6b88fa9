#!/usr/bin/env bash
# Builds the simulator and runs seeds of it, one world each:
#
#     Tests/simulate.sh [readings|join|power|liar] FIRST LAST
#     Tests/simulate.sh hash SEED
#     Tests/simulate.sh site line|ring|grid|random|lan|sites NODES [SEED [LOSS [COLLECTORS]]]
#     Tests/simulate.sh quiet … the same, but nobody dies and no link flaps
#
# Closes with `N passed, N failed`; a seed that fails prints the line that replays it.
set -euo pipefail
. "$(dirname "$0")/../deploy/common.sh"
need "${BUILD_PACKAGES[@]}"
need_swift
program=$(simulator 2>.build-simulate.log) || {
    tail -n 30 .build-simulate.log
    die "the simulator could not be built"
}
exec "$program" "$@"
