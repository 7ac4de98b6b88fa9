#!/usr/bin/env bash
# Builds and tests this checkout with Debian 13's swiftlang, in a root below .build-debian13.
# As root. The root is made once (about a minute, 2.7 GB) and kept while the checkout is.
# `deploy/debian13.sh COMMAND…` runs any other command in a copy of the checkout there, /build, and the checkout
# itself is to be read at /w: `deploy/debian13.sh deploy/test.sh lab` is the lab with Debian 13's kernel, daemons
# and libraries. DEBIAN13_FOLDER=/other is another copy, with builds of its own; one command at a time is at work in each.
set -euo pipefail
. "$(dirname "$0")/common.sh"
ROOT=$TOP/.build-debian13/root
FOLDER=${DEBIAN13_FOLDER:-/build}
PACKAGES=swiftlang,lld,libc6-dev,libstdc++-14-dev,g++,git,ca-certificates,pkgconf,libssl-dev,libyaml-dev,libsqlite3-dev,libqrencode-dev,libavahi-client-dev,libbluetooth-dev,libgpiod-dev,libcurl4-openssl-dev,libpq-dev,libnats-dev,libmosquitto-dev,libmicrohttpd-dev,iproute2,procps,openssl

# All mounts below are made in a mount namespace of this script's own: they are gone when it ends, however
# it ends, and nothing of the machine can be reached through a root that is being deleted.
if [ -z "${OWN_MOUNTS:-}" ]; then
    need_root
    need mmdebstrap debian-archive-keyring
    OWN_MOUNTS=1 exec unshare --mount --propagation private "$TOP/deploy/debian13.sh" "$@"
fi

mkdir -p "$TOP/.build-debian13"
exec 8>"$TOP/.build-debian13/lock"
flock 8

# Made again when the list of packages changed.
if [ "$(cat "$ROOT/.complete" 2>/dev/null)" != "$PACKAGES" ]; then
    if grep -q " $ROOT" /proc/mounts; then
        echo "something is mounted below $ROOT; unmount it first" >&2
        exit 1
    fi
    rm -rf --one-file-system "$ROOT"
    mkdir -p "$ROOT"
    debian_root trixie "$ROOT" $PACKAGES
    echo "$PACKAGES" >"$ROOT/.complete"
fi

# One at a time in a folder: each copies the checkout there anew.
exec 7>"$TOP/.build-debian13/lock${FOLDER//\//-}"
flock -u 8
flock 7

# Where git has a local copy of public packages configured, the root sees it at the same place.
LOCAL=$(git config --get-regexp '^url\..*\.insteadof$' 2>/dev/null |
    sed -n 's#^url\.\(/.*\)\.insteadof https://github.com/$#\1#p' | head -1)

mkdir -p "$ROOT/w"
# A mount point of its own, and /sys: `ip netns exec` wants both.
mount --bind "$ROOT" "$ROOT"
mount -t proc proc "$ROOT/proc"
mount -t sysfs sys "$ROOT/sys"
# The root has its own device nodes; nothing of the machine's is bound into it.
while read -r node major minor; do
    [ -c "$ROOT/dev/$node" ] || mknod -m 666 "$ROOT/dev/$node" c "$major" "$minor"
done <<<"null 1 3
zero 1 5
random 1 8
urandom 1 9
tty 5 0"
ln -sfn /proc/self/fd "$ROOT/dev/fd"
# Pseudoterminals of its own, which stand for serial ports.
mkdir -p "$ROOT/dev/pts"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$ROOT/dev/pts"
ln -sfn pts/ptmx "$ROOT/dev/ptmx"
mount --bind -o ro "$TOP" "$ROOT/w"
if [ -n "$LOCAL" ]; then
    mkdir -p "$ROOT$LOCAL"
    mount --bind -o ro "$LOCAL" "$ROOT$LOCAL"
    printf '[url "%s"]\n\tinsteadOf = https://github.com/\n[safe]\n\tdirectory = *\n' "$LOCAL" >"$ROOT/etc/gitconfig"
else
    printf '[safe]\n\tdirectory = *\n' >"$ROOT/etc/gitconfig"
fi

# A copy of the tree: one checkout cannot be built by two compilers at once.
chroot "$ROOT" sh -euc '
    unset TMPDIR
    export HOME=/root PATH=/usr/bin:/usr/sbin:/bin:/sbin
    folder=$1
    shift
    mkdir -p "$folder"
    rm -rf "$folder/Sources" "$folder/Tests" "$folder/Benchmarks"
    cd /w
    tar -c --exclude=./.build* --exclude=./.git --exclude=./Package.resolved . | tar -x -C "$folder"
    cd "$folder"
    [ $# = 0 ] || exec "$@"
    swift --version
    export RIVULET_FAST_TESTS=whole
    exec bash -euc ". deploy/common.sh
        tests_swift build --build-tests
        tests_swift test --skip-build --disable-xctest"
' sh "$FOLDER" "$@"
