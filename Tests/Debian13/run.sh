#!/usr/bin/env bash
# Builds and tests the checkout in $TOP with Debian 13's swiftlang, in a root below .build-debian13.
# As root. The root is made once (about a minute, 2.7 GB) and kept while the checkout is.
set -euo pipefail
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
ROOT=$TOP/.build-debian13/root
PACKAGES=swiftlang,libc6-dev,libstdc++-14-dev,g++,git,ca-certificates,pkgconf,libssl-dev,libyaml-dev
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

mirror() {
    sed -n 's/^URIs: *//p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\) .*/\2/p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -1
}

if [ ! -e "$ROOT/.complete" ]; then
    rm -rf "$ROOT"
    mkdir -p "$ROOT"
    mmdebstrap --mode=root --variant=apt --components=main --keyring=$KEYS \
        --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --include=$PACKAGES trixie "$ROOT" "$(mirror)"
    touch "$ROOT/.complete"
fi

# Where git has a local copy of public packages configured, the root sees it at the same place.
LOCAL=$(git config --get-regexp '^url\..*\.insteadof$' 2>/dev/null |
    sed -n 's#^url\.\(/.*\)\.insteadof https://github.com/$#\1#p' | head -1)

down() { for place in w "${LOCAL#/}" dev proc; do umount -R "$ROOT/${place%/}" 2>/dev/null || true; done; }
trap down EXIT
down
mkdir -p "$ROOT/w"
mount -t proc proc "$ROOT/proc"
mount --rbind /dev "$ROOT/dev"
mount --make-rslave "$ROOT/dev"
mount --bind "$TOP" "$ROOT/w"
if [ -n "$LOCAL" ]; then
    mkdir -p "$ROOT$LOCAL"
    mount --bind -o ro "$LOCAL" "$ROOT$LOCAL"
    printf '[url "%s"]\n\tinsteadOf = https://github.com/\n[safe]\n\tdirectory = *\n' "$LOCAL" >"$ROOT/etc/gitconfig"
else
    printf '[safe]\n\tdirectory = *\n' >"$ROOT/etc/gitconfig"
fi

# A copy of the tree: one checkout cannot be built by two compilers at once.
chroot "$ROOT" sh -euc '
    export HOME=/root PATH=/usr/bin:/usr/sbin:/bin:/sbin
    mkdir -p /build
    cd /w
    tar -c --exclude=./.build* --exclude=./.git --exclude=./Package.resolved . | tar -x -C /build
    cd /build
    swift --version
    swift build --build-tests
    swift test --skip-build --disable-xctest
'
