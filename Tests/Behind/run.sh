#!/usr/bin/env bash
# What stands behind a collector: real servers, a real collector and real agents, in network namespaces. As root.
# Closes with `N passed, N failed`.
# Tests/Behind/run.sh [LANE | LANE-CASE…] runs only those: lanes are the folders here, cases the files in them,
# `packages` in a lane's folder names what it needs, `prepare.sh` is run before its cases. Builds first, unless BIN names a folder with the release build.
set -uo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
need_root
CASE=Tests/Behind/case.sh
CASE_SECONDS=${CASE_SECONDS:-900}
. Tests/Network/runner.sh

# lane-case
case_name() {
    local lane
    lane=$(basename "$(dirname "$1")")
    echo "$lane-$(basename "$1" .sh)"
}

case_files() { find "$1" -mindepth 2 -name '*.sh' ! -name library.sh ! -name prepare.sh | sort; }

# A lane stands for all its cases.
is_wanted() {
    local name=$1 word
    shift
    [ $# -gt 0 ] || return 0
    for word; do [[ "$name" == "$word" || "$name" == "$word"-* ]] && return; done
    return 1
}

packages=()
for file in Tests/Behind/*/packages; do
    lane=$(basename "$(dirname "$file")")
    [ $# -eq 0 ] || [[ " $* " == *" $lane"* ]] || continue
    mapfile -t -O ${#packages[@]} packages < <(tr ' ' '\n' <"$file" | grep -v '^$')
done
need "${NETWORK_PACKAGES[@]}" jq ${packages[@]+"${packages[@]}"}
for file in Tests/Behind/*/prepare.sh; do
    lane=$(basename "$(dirname "$file")")
    [ $# -eq 0 ] || [[ " $* " == *" $lane"* ]] || continue
    # The cases say it, and are not run.
    LANE_REASON=$(bash "$file" 2>&1) || echo "$lane: ${LANE_REASON##*$'\n'}"
    LANE_REASON=${LANE_REASON##*$'\n'}
    export LANE_REASON
done
release_build rivulet rivulet-agent
export BIN
run_cases "${AT_ONCE:-2}" Tests/Behind "$@"
