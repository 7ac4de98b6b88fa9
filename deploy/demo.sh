#!/usr/bin/env bash
# Runs a collector, a relay and two agents on this machine, each in a network namespace of its own, reading
# this machine's own sensors. The agent `north` is on the collector's network; the agent `south` reaches it
# only through the relay. Prints the collector's tables and leaves nothing running.
#
#     network 1:  collector ── relay ── north
#     network 2:               relay ── south
#
# deploy/demo.sh [--keep]: with --keep it goes on until Ctrl-C.
set -euo pipefail
. "$(dirname "$0")/common.sh"

keep=
[ "${1:-}" != --keep ] || keep=1
[ $# -eq 0 ] || { [ $# -eq 1 ] && [ -n "$keep" ]; } || die "usage: deploy/demo.sh [--keep]"

need "${BUILD_PACKAGES[@]}" iproute2 procps
unset BIN
release_build rivulet-agent rivulet

# From here on as root: namespaces need it.
if [ "$(id -u)" != 0 ]; then
    exec sudo "BIN=$BIN" "KEEP=$keep" "LAB=${LAB:-}" bash "$TOP/deploy/demo-network.sh"
fi
BIN=$BIN KEEP=$keep exec bash "$TOP/deploy/demo-network.sh"
