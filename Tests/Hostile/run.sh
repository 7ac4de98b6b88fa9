#!/usr/bin/env bash
# Rogue members and outsiders against real agents, relays and collectors, in network namespaces: a case
# says what must hold under which attack. As root. Closes with `N passed, N failed`.
# Tests/Hostile/run.sh [NAME…] runs only those. Builds first, unless BIN names a folder with the release build.
set -uo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
need_root
[ -n "${BIN:-}" ] || need "${NETWORK_PACKAGES[@]}"
release_build
export BIN
. Tests/Network/runner.sh
# How many cases run side by side: each has namespaces and folders of its own.
run_cases "${AT_ONCE:-2}" Tests/Hostile/cases "$@"
