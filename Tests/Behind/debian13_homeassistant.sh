#!/usr/bin/env bash
# Tests/Behind/debian13_homeassistant.sh [CASE…]: the lane `homeassistant` (or cases of it) against a newer Home Assistant,
# which wants the Python of Debian 13, on Debian 12. As root; by hand. It lives in a root that is made once, below
# .build-debian13: some five minutes, 1.5 GB.
set -euo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
VERSION=${HOMEASSISTANT_VERSION:-2026.2.3}
# libturbojpeg, ffmpeg and libpcap for what it loads; compilers for what the package index has as sources alone.
PACKAGES=python3,python3-venv,python3-dev,gcc,g++,make,libc6-dev,libffi-dev,libssl-dev,libjpeg-dev,zlib1g-dev,pkgconf,libturbojpeg0,ffmpeg,libpcap0.8,ca-certificates
need_root
need mmdebstrap debian-archive-keyring
# Mounts are this script's own.
if [ -z "${OWN_MOUNTS:-}" ]; then
    OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi
ROOT=${HOMEASSISTANT_ROOT:-$TOP/.build-debian13/homeassistant}
if [ ! -e "$ROOT/usr/bin/python3" ]; then
    mkdir -p "$(dirname "$ROOT")"
    debian_root trixie "$ROOT" "$PACKAGES"
fi
# What the cases name is at the same place there.
mkdir -p "$ROOT$TOP"
mount --bind "$TOP" "$ROOT$TOP"
for folder in tmp dev proc; do mount --bind "/$folder" "$ROOT/$folder"; done
for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || cat "$file" >"$ROOT$file"
done

# What an integration wants is written beside it, and fetched at the first start where that is allowed.
if [ "$(cat "$ROOT/ha/complete" 2>/dev/null)" != "$VERSION" ]; then
    chroot "$ROOT" sh -euc '
        python3 -m venv /ha
        /ha/bin/pip install -q --prefer-binary "homeassistant==$1"
        /ha/bin/python -c "
import glob, json, os, homeassistant
folder = os.path.dirname(homeassistant.__file__) + \"/components/\"
wanted, seen, names = set(), set(), [\"mqtt\", \"frontend\", \"recorder\", \"diagnostics\", \"backup\", \"cloud\"]
platforms = json.load(open(folder + \"mqtt/manifest.json\")).get(\"after_dependencies\", [])
for file in glob.glob(folder + \"mqtt/*.py\"):
    platforms.append(os.path.basename(file)[:-3])
names += platforms
while names:
    name = names.pop()
    if name not in seen and os.path.exists(folder + name + \"/manifest.json\"):
        seen.add(name)
        manifest = json.load(open(folder + name + \"/manifest.json\"))
        wanted.update(manifest.get(\"requirements\", []))
        names += manifest.get(\"dependencies\", [])
print(\"\n\".join(sorted(wanted)))" >/tmp/rivulet-homeassistant-wanted
        /ha/bin/pip install -q --prefer-binary -r /tmp/rivulet-homeassistant-wanted
        rm /tmp/rivulet-homeassistant-wanted
    ' sh "$VERSION"
    echo "$VERSION" >"$ROOT/ha/complete"
fi

HOMEASSISTANT=$(mktemp -d /tmp/rivulet-homeassistant.XXXXXX)
export HOMEASSISTANT
trap 'rm -rf "$HOMEASSISTANT"' EXIT
mkdir "$HOMEASSISTANT/bin"
touch "$HOMEASSISTANT/complete"
for program in python hass; do
    printf '#!/bin/sh\nexec unshare --root=%q --wd="$PWD" /ha/bin/%s "$@"\n' "$ROOT" "$program" \
        >"$HOMEASSISTANT/bin/$program"
    chmod +x "$HOMEASSISTANT/bin/$program"
done
[ $# -gt 0 ] || set -- homeassistant
bash Tests/Behind/run.sh "$@"
