#!/usr/bin/env bash
# Packages, images and updates, on whole systems: Tests/Image/run.sh [packages] [init] [update] [image]
# A mode is Tests/Image/MODE.sh, a list of functions case_MODE_… that each print what is not so and fail, or
# pass; without names, all. Installs what it needs, closes with `N passed, N failed`. What cannot be run here, and
# what is too slow for every run, is said with its reason. As root.
set -uo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
. Tests/Image/common.sh
need_root

modes=("$@")
if [ ${#modes[@]} = 0 ]; then
    for mode in packages init update image; do
        [ ! -e "Tests/Image/$mode.sh" ] || modes+=("$mode")
    done
fi
for mode in "${modes[@]}"; do
    [ -e "Tests/Image/$mode.sh" ] || die "usage: Tests/Image/run.sh [packages] [init] [update] [image]"
done
passed=0 failed=0
for mode in "${modes[@]}"; do
    . "Tests/Image/$mode.sh"
    "run_$mode"
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
