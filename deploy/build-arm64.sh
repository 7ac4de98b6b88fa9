#!/usr/bin/env bash
# Cross-compiles for 64-bit ARM with Debian 13's own compiler: `rivulet-agent` and `rivulet`, stripped, into
# .build-arm64/bin. On Debian 13 at once; elsewhere in the Debian 13 root of deploy/debian13.sh, as root. The
# first run makes a sysroot of Debian's arm64 packages (half a minute, 0.8 GB); no arm64 program runs meanwhile.
# The programs need glibc 2.38: Debian 13, or Raspberry Pi OS trixie.
#
# deploy/build-arm64.sh         the programs
# deploy/build-arm64.sh tests   the unit tests instead, into .build-arm64/tests; deploy/test-arm64.sh runs them
set -euo pipefail
. "$(dirname "$0")/common.sh"
what=${1:-programs}
[[ $what = programs || $what = tests ]] || die "usage: deploy/build-arm64.sh [tests]"
OUT=$TOP/.build-arm64
SYSROOT=$OUT/sysroot
# The C libraries that the programs and the runtime are linked with. Changed: the sysroot is made anew.
SYSROOT_PACKAGES=libc6-dev,libstdc++-14-dev,libgcc-14-dev,libswiftlang,libssl-dev,libyaml-dev,libsqlite3-dev,libqrencode-dev,libavahi-client-dev,libbluetooth-dev,libgpiod-dev,libpq-dev,libnats-dev,libmosquitto-dev,libmicrohttpd-dev,zlib1g-dev,libcurl4-openssl-dev,libxml2-dev

# make_sysroot: C libraries and headers, and of the Swift package its modules and static archives only.
make_sysroot() {
    [ "$(cat "$SYSROOT/.complete" 2>/dev/null)" != "$SYSROOT_PACKAGES" ] || return 0
    need mmdebstrap debian-archive-keyring dpkg-dev
    echo "making a sysroot of Debian 13's arm64 packages (half a minute)"
    rm -rf "$SYSROOT" "$OUT/apt"
    mkdir -p "$OUT"
    as_root mmdebstrap --quiet --mode=root --variant=extract --components=main --keyring="$DEBIAN_KEYS" \
        --arch=arm64 --include="$SYSROOT_PACKAGES" trixie "$SYSROOT" "$(debian_mirror)" >"$OUT/sysroot.log" 2>&1 ||
        { tail -n 5 "$OUT/sysroot.log"; die "the sysroot could not be made"; }
    # Without its merged folders, which the linker's scripts for libc and libm name.
    as_root ln -sfn usr/lib "$SYSROOT/lib"
    add_swift_modules
    echo "$SYSROOT_PACKAGES" | as_root tee "$SYSROOT/.complete" >/dev/null
}

# add_swift_modules: with an apt state of its own, so that this machine's stays as it is.
add_swift_modules() {
    local apt=$OUT/apt lib=$SYSROOT/usr/libexec/swift/lib
    mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
    echo "deb [signed-by=$DEBIAN_KEYS] $(debian_mirror) trixie main" >"$apt/sources.list"
    cat >"$apt/apt.conf" <<CONF
Dir::Etc::SourceList "$apt/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::State::Lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Architectures {"amd64";"arm64"};
APT::Sandbox::User "root";
CONF
    (cd "$apt" && export APT_CONFIG=$apt/apt.conf && apt-get -qq update && apt-get -qq download swiftlang:arm64) \
        >>"$OUT/sysroot.log" 2>&1 || { tail -n 5 "$OUT/sysroot.log"; die "swiftlang for arm64 could not be had"; }
    dpkg-deb --fsys-tarfile "$apt"/swiftlang_*_arm64.deb |
        as_root tar -x -C "$SYSROOT" --exclude='*/host/*' --exclude='*/migrator/*' \
            --exclude='*/FrameworkABIBaseline/*' --exclude='*/embedded/*apple*' \
            ./usr/libexec/swift/lib/swift ./usr/libexec/swift/lib/swift_static ./usr/libexec/swift/lib/clang
    as_root ln -sfn ../libexec/swift/lib/swift "$SYSROOT/usr/lib/swift"
    as_root ln -sfn ../libexec/swift/lib/swift_static "$SYSROOT/usr/lib/swift_static"
    # Its list of archives names two that the package does not have.
    as_root sed -i '/licu/d' "$lib/swift_static/linux/static-executable-args.lnk"
    echo '{"CanonicalName":"linux","Version":"13.0","DisplayName":"Debian 13 arm64","MinimalDisplayName":"arm64"}' |
        as_root tee "$SYSROOT/SDKSettings.json" >/dev/null
    rm -f "$apt"/swiftlang_*_arm64.deb
}

# describe_sdk SYSROOT FOLDER: what SwiftPM wants to know of the sysroot, which the compiler sees at SYSROOT.
describe_sdk() {
    local bundle=$2/trixie-arm64.artifactbundle
    mkdir -p "$bundle/trixie-arm64"
    cat >"$bundle/info.json" <<JSON
{"schemaVersion": "1.0", "artifacts": {"trixie-arm64": {"type": "swiftSDK", "version": "6.0.3", "variants": [
  {"path": "trixie-arm64", "supportedTriples": ["x86_64-pc-linux-gnu", "x86_64-unknown-linux-gnu"]}]}}}
JSON
    cat >"$bundle/trixie-arm64/swift-sdk.json" <<JSON
{"schemaVersion": "4.0", "targetTriples": {"aarch64-unknown-linux-gnu": {"sdkRootPath": "$1",
  "swiftResourcesPath": "$1/usr/lib/swift", "swiftStaticResourcesPath": "$1/usr/lib/swift_static",
  "toolsetPaths": ["toolset.json"]}}}
JSON
    echo '{"schemaVersion": "1.0", "swiftCompiler": {"extraCLIOptions": ["-use-ld=lld"]}}' \
        >"$bundle/trixie-arm64/toolset.json"
}

# compile SYSROOT: with Debian 13's compiler, here. Prints where the products lie.
compile() {
    local sdk scratch=$TOP/.build-arm64-$what
    sdk=$(mktemp -d)
    describe_sdk "$1" "$sdk"
    local flags=(--scratch-path "$scratch" --swift-sdks-path "$sdk" --swift-sdk trixie-arm64)
    if [ "$what" = tests ]; then
        # Without the examples: nobody runs them there.
        RIVULET_FAST_TESTS=whole RIVULET_RELEASE=1 swift build "${flags[@]}" "${QUICK_FLAGS[@]}" --build-tests >&2
        RIVULET_RELEASE=1 swift build "${flags[@]}" --show-bin-path
    else
        # No RUNPATH into the sysroot, no symbols, everything bound at the start.
        flags+=("${RELEASE_FLAGS[@]}" --disable-local-rpath -Xlinker -s -Xlinker -z -Xlinker now)
        for product in rivulet-agent rivulet; do swift build "${flags[@]}" --product "$product" >&2; done
        RIVULET_RELEASE=1 swift build "${flags[@]}" --show-bin-path
    fi
    rm -rf "$sdk"
}

# Within the root, the checkout with the sysroot is at /w.
if [ -n "${RIVULET_SYSROOT:-}" ]; then
    compile "$RIVULET_SYSROOT"
    exit
fi
make_sysroot
log=$OUT/build.log
echo "building (log in ${log#"$TOP/"})"
if is_debian13; then
    need "${BUILD_PACKAGES[@]}"
    folder=$(compile "$SYSROOT" 2>"$log") || { tail -n 30 "$log"; die "the build failed"; }
else
    folder=$(as_root deploy/debian13.sh env RIVULET_SYSROOT=/w/.build-arm64/sysroot deploy/build-arm64.sh "$what" \
        2>"$log") ||
        { tail -n 30 "$log"; die "the build failed"; }
    folder=$TOP/.build-debian13/root$(tail -n 1 <<<"$folder")
fi
mkdir -p "$OUT/bin"
if [ "$what" = tests ]; then
    rm -rf "$OUT/tests"
    mkdir -p "$OUT/tests"
    cp -a "$folder"/*.xctest "$OUT/tests/"
    ls -l "$OUT/tests"
else
    for product in rivulet-agent rivulet; do
        cp "$folder/$product" "$OUT/bin/$product"
        echo "$product: $(($(stat -c %s "$OUT/bin/$product") / 1000)) kB"
    done
fi
