#!/usr/bin/env bash
# Installs what building needs, and builds rivulet-agent and rivulet as they are meant to be run: optimised for
# size, with Swift's runtime in them, so that a board needs no Swift. They are then in .build/release.
set -euo pipefail
. "$(dirname "$0")/common.sh"
[ $# -eq 0 ] || die "usage: deploy/build.sh"
unset BIN
release_build rivulet-agent rivulet
echo "built: .build/release/rivulet-agent, .build/release/rivulet"
