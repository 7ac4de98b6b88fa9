#!/usr/bin/env bash
# Prints the stripped size of the agent and its resident memory with 20 channels at 1 Hz, beside the
# ledger; fails above it. The ledger only ever tightens. As root; builds first, unless BIN names a folder
# with the release build.
set -euo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
need_root
release_build
. Tests/Footprint/ledger
status=0

# within NAME VALUE LIMIT UNIT
within() {
    echo "$1: $2 $4 (ledger $3)"
    [ "$2" -le "$3" ] || status=1
}

stripped=$(mktemp)
strip -o "$stripped" "$BIN/rivulet-agent"
within "agent, stripped" $(($(stat -c %s "$stripped") / 1000)) "$agent_stripped_kB" kB
rm -f "$stripped"
# The median of three, each from a cold cache, as after a board's start: the kernel maps around a page what its
# cache happens to hold, which beside a build just made is a megabyte more.
cold_run() {
    sync
    echo 1 >/proc/sys/vm/drop_caches
    bash Benchmarks/footprint.sh
}
runs=$(for _ in 1 2 3; do cold_run; done)
resident=$(awk '{ print $1 }' <<<"$runs" | sort -n | sed -n 2p)
private=$(awk '{ print $2 }' <<<"$runs" | sort -n | sed -n 2p)
within "agent, resident" "$resident" "$agent_resident_kB" kB
within "agent, private dirty" "$private" "$agent_private_kB" kB
exit $status
