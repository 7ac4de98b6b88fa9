#!/usr/bin/env bash
# Real processes, real packets, in network namespaces: direct, relay, relay killed, partition and heal,
# wrong secret, foreign network, one address family. As root. Closes with `N passed, N failed`.
# Tests/Network/run.sh [NAME…] runs only those. Builds first, unless BIN names a folder with the release build.
set -uo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
need_root
[ -n "${BIN:-}" ] || need "${NETWORK_PACKAGES[@]}"
release_build
export BIN
. Tests/Network/runner.sh
# Two at a time: they wait more than they compute.
run_cases "${AT_ONCE:-2}" Tests/Network/cases "$@"
