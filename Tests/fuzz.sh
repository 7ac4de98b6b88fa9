#!/usr/bin/env bash
# Fuzzes the parsers of bytes from outside with libFuzzer: fuzz.sh [--runs N] [--length N]
# [TARGET…]; without names, all of them, one after the other. What it finds stops it, and lies in
# .build-fuzz; put it into Tests/FuzzTests/Corpus/TARGET, where the ordinary tests replay it. A
# corpus grows in .build-fuzz/corpus; `--keep` brings what is worth it (a minimal set) back into
# Tests/FuzzTests. Inputs have up to `--length` bytes (4096): with 128 most parsers run several
# times as often in the same time.
set -euo pipefail
. "$(dirname "$0")/../deploy/common.sh"

runs=1000000 length=4096 keep=
targets=()
while [ $# -gt 0 ]; do
    case $1 in
        --runs) runs=${2:?$1 wants a number}; shift ;;
        --length) length=${2:?$1 wants a number}; shift ;;
        --keep) keep=1 ;;
        -*) die "unknown option $1; see the head of this file" ;;
        *) targets+=("$1") ;;
    esac
    shift
done
need "${BUILD_PACKAGES[@]}"
need_swift
build=.build-fuzz
export RIVULET_FUZZING=1
swift build -c release --product fuzz --scratch-path $build -Xswiftc -DFUZZING \
    -Xswiftc -enable-testing -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld \
    >$build.log 2>&1 || { tail -n 20 $build.log; die "the fuzzer could not be built"; }
program=$(swift build -c release --product fuzz --scratch-path $build --show-bin-path)/fuzz
[ ${#targets[@]} -gt 0 ] ||
    mapfile -t targets < <(for folder in Tests/FuzzTests/Corpus/*/; do basename "$folder"; done)

# Swift's own report of a crash would come before libFuzzer keeps the input.
export SWIFT_BACKTRACE=enable=no
total=0
for target in "${targets[@]}"; do
    seeds=Tests/FuzzTests/Corpus/$target grown=$build/corpus/$target log=$build/$target.log
    mkdir -p "$grown"
    FUZZ_TARGET=$target "$program" -runs="$runs" -max_len="$length" -timeout=10 \
        -print_final_stats=1 -artifact_prefix="$build/found-$target-" "$grown" "$seeds" >"$log" 2>&1 || {
        tail -n 30 "$log"
        die "$target: found something; its input is $build/found-$target-…"
    }
    done_runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    total=$((total + done_runs))
    echo "$target: $done_runs executions, nothing found"
    if [ -n "$keep" ]; then
        mkdir -p "$build/least/$target"
        FUZZ_TARGET=$target "$program" -merge=1 "$build/least/$target" "$grown" "$seeds" \
            >>"$log" 2>&1
        # Small ones say most, and the checkout stays small.
        find "$build/least/$target" -type f -size -2k -printf '%s %p\n' | sort -n | head -n 60 |
            while read -r _ file; do cp "$file" "$seeds/"; done
    fi
done
echo "$total executions, nothing found"
