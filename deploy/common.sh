# Sourced by most scripts: where we are, what is missing, who may install it.

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
TOP=$PWD
export LC_ALL=C.UTF-8

die() {
    echo "$*" >&2
    exit 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need PACKAGE…: installs those Debian packages that are not there, and says so.
need() {
    local missing=() package
    for package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q ' installed$' || missing+=("$package")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || die "needs ${missing[*]}; this machine has no apt-get"
    echo "installing: ${missing[*]}"
    one_at_a_time apt-get -qq update
    one_at_a_time env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        "${missing[@]}" >/dev/null || die "could not install ${missing[*]}"
}

# one_at_a_time COMMAND…: as root; scripts that run side by side would find apt locked.
one_at_a_time() { as_root flock "$TOP/.build-apt-lock" "$@"; }

DEBIAN_KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

# Where this machine has its Debian packages from.
debian_mirror() {
    sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
        /etc/apt/sources.list.d/debian*.sources /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1 || true
}

# debian_root SUITE FOLDER PACKAGE,…: a small Debian for `chroot`, of this machine's kind, without manuals. As root.
debian_root() {
    mmdebstrap --quiet --mode=root --variant=apt --components=main --keyring="$DEBIAN_KEYS" \
        --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --include="$3" "$1" "$2" "$(debian_mirror)"
}

# Whether the Swift here is the package of Debian 13.
is_debian13() {
    grep -q 'VERSION_ID="13"' /etc/os-release && ! command -v swiftly >/dev/null &&
        swift --version 2>&1 | grep -q 6.0.3
}

# A Swift compiler: the one on PATH, else Debian 13's own package.
need_swift() {
    local system
    system=$(dpkg --print-architecture 2>/dev/null || uname -m)
    case $system in
        amd64 | arm64 | x86_64 | aarch64) ;;
        *) die "this system is $system: Rivulet needs a 64-bit one (deploy/boards-that-run.md has the boards)" ;;
    esac
    if command -v swift >/dev/null; then
        # The archive from swift.org brings no libraries of Debian's with it.
        swift --version >/dev/null 2>&1 || need "${SWIFT_LIBRARIES[@]}"
        swift --version >/dev/null || die "the Swift on PATH does not run"
        return
    fi
    if apt-cache show swiftlang >/dev/null 2>&1 ||
        { one_at_a_time apt-get -qq update && apt-cache show swiftlang >/dev/null 2>&1; }; then
        need swiftlang
    else
        die "needs Swift 6.0 or later on PATH: on Debian 12 take it from swift.org; Debian 13 has the package swiftlang"
    fi
}

# What Swift's own programs are linked with.
SWIFT_LIBRARIES=(libcurl4 libedit2 libncurses6 libsqlite3-0 libxml2 zlib1g tzdata)

# What building needs.
BUILD_PACKAGES=(git g++ libc6-dev pkgconf libssl-dev libyaml-dev libsqlite3-dev libqrencode-dev
    libavahi-client-dev libbluetooth-dev libgpiod-dev
    libcurl4-openssl-dev libpq-dev libnats-dev libmosquitto-dev libmicrohttpd-dev)
# What namespaces and their tests need.
NETWORK_PACKAGES=(mount e2fsprogs iproute2 nftables procps openssl sqlite3 qrencode avahi-daemon
    avahi-utils dbus valgrind)

# Lines for a debugger cost a tenth of a build's time, and nobody looks at them. Writing a module's interface before its
# objects costs up to a sixth: the module is checked twice so that those that import it can start sooner, and two cores
# are busy anyway.
QUICK_FLAGS=(-Xswiftc -gnone -Xswiftc -no-emit-module-separately-wmo)

# Flags of the release build: Swift's runtime static, the libraries of others shared. Nobody links with a
# program: exporting all its symbols would cost 0.4 MB. One is for libavahi-client (BoundedCall.swift).
# lld, which comes with every Swift, folds equal functions and texts and packs relocations: 0.6 MB less; without
# tables for unwinding, 1.3 MB less. Two accesses to one value at once are found by the tests' builds. What a working
# agent runs lies together (function-order): 1 MB less is resident.
RELEASE_FLAGS=(-c release --static-swift-stdlib "${QUICK_FLAGS[@]}" --disable-index-store -Xswiftc -Osize -Xswiftc -enforce-exclusivity=unchecked
    -Xswiftc -use-ld=lld
    -Xlinker --no-export-dynamic
    -Xlinker --export-dynamic-symbol=dbus_connection_send_with_reply_and_block
    -Xlinker -O2 -Xlinker --gc-sections -Xlinker --icf=all -Xlinker -z -Xlinker pack-relative-relocs
    -Xlinker --no-eh-frame-hdr -Xlinker -T -Xlinker "$TOP/deploy/no-unwind-tables.ld"
    -Xlinker "--symbol-ordering-file=$TOP/deploy/function-order" -Xlinker --no-warn-symbol-ordering)

# The lld that comes with Debian 13's Swift stops at that script with a failed assertion: the package lld does not.
if grep -q 'VERSION_ID="13"' /etc/os-release; then
    BUILD_PACKAGES+=(lld)
    RELEASE_FLAGS+=(-Xswiftc -ld-path=/usr/bin/ld.lld)
fi

# release_build [PRODUCT…]: our programs, built into $BIN with what that needs; without names all but the examples
# that use Foundation.
# Nothing is done where BIN names a folder with a build already.
release_build() {
    [ -z "${BIN:-}" ] || return 0
    need "${BUILD_PACKAGES[@]}"
    need_swift
    local log=$TOP/.build-release.log product products=("$@")
    [ $# -gt 0 ] || products=(all)
    echo "building (the first time takes some minutes; log in ${log#"$TOP/"})" >&2
    : >"$log"
    for product in "${products[@]}"; do
        if [ "$product" = all ]; then set --; else set -- --product "$product"; fi
        RIVULET_RELEASE=1 swift build "${RELEASE_FLAGS[@]}" "$@" >>"$log" 2>&1 || {
            tail -n 30 "$log" >&2
            die "the build failed"
        }
    done
    BIN=$(RIVULET_RELEASE=1 swift build "${RELEASE_FLAGS[@]}" --show-bin-path)
    export BIN
}

# need_root: for what makes network namespaces, or mounts.
need_root() { [ "$(id -u)" = 0 ] || die "run it as root: it makes network namespaces, or roots of its own"; }

# The tests' build. What computes for minutes is optimised in it (Package.swift), so it has a folder of its own: objects
# of both kinds do not link together. RIVULET_FAST_TESTS=whole: the least to compute, but nothing is incremental.
TESTS_BUILD=$TOP/.build-tests
tests_swift() {
    local command=$1
    shift
    RIVULET_FAST_TESTS=${RIVULET_FAST_TESTS:-1} swift "$command" --scratch-path "$TESTS_BUILD" "${QUICK_FLAGS[@]}" "$@"
}

# simulator: builds it, where the tests' build has not been made just now, and prints where it is.
simulator() {
    [ -n "${built:-}" ] || tests_swift build --product simulate >&2 || return
    echo "$TESTS_BUILD/debug/simulate"
}
