#!/usr/bin/env bash
# The examples as people use them: real programs in network namespaces, each in a terminal of its own, where the
# tests type and look. As root. Closes with `N passed, N failed`.
# Examples/run.sh [NAME…] runs only those: the names are the folders here that have a test.sh. Builds first,
# unless BIN names a folder with the programs.
set -uo pipefail
. "$(dirname "$0")/../deploy/common.sh"
need_root
need "${NETWORK_PACKAGES[@]}" tmux busybox-static tcpdump tshark
if [ -z "${BIN:-}" ]; then
    need "${BUILD_PACKAGES[@]}"
    need_swift
    echo "building (the first time takes some minutes; log in .build-examples.log)" >&2
    tests_swift build >.build-examples.log 2>&1 || {
        tail -n 30 .build-examples.log >&2
        die "the build failed"
    }
    BIN=$TESTS_BUILD/debug
fi
export BIN
CASE=Examples/case.sh
REPORT_LINES=200
. Tests/Network/runner.sh
run_cases "${AT_ONCE:-2}" Examples "$@"
