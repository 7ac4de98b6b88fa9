#!/usr/bin/env bash
# Tests/Behind/debian13_postgres.sh [CASE…]: the lane `postgres` (or cases of it) against the PostgreSQL of Debian 13, on
# Debian 12. As root; by hand. The server's programs come from a root that is made once, below .build-debian13.
set -euo pipefail
. "$(dirname "$0")/../../deploy/common.sh"
need_root
need mmdebstrap debian-archive-keyring postgresql
# Mounts are this script's own; those that cases make are seen in the root, too.
if [ -z "${OWN_MOUNTS:-}" ]; then
    OWN_MOUNTS=1 exec unshare --mount --propagation private "$0" "$@"
fi
ROOT=${POSTGRES_ROOT:-$TOP/.build-debian13/postgres}
if [ ! -e "$ROOT/usr/lib/postgresql/17/bin/postgres" ]; then
    mkdir -p "$(dirname "$ROOT")"
    debian_root trixie "$ROOT" postgresql-17,postgresql-client-17
fi
# Users are those of this machine: files below /tmp are theirs.
cp /etc/passwd /etc/group "$ROOT/etc/"
mount --make-rshared /
for folder in tmp dev proc; do mount --bind "/$folder" "$ROOT/$folder"; done
PG_BIN=$(mktemp -d /tmp/rivulet-postgres.XXXXXX)
chmod a+rx "$PG_BIN"
for program in "$ROOT"/usr/lib/postgresql/17/bin/*; do
    name=$(basename "$program")
    printf '#!/bin/sh\nexec unshare --map-current-user --root=%s --wd=/ /usr/lib/postgresql/17/bin/%s "$@"\n' \
        "$ROOT" "$name" >"$PG_BIN/$name"
    chmod a+rx "$PG_BIN/$name"
done
export PG_BIN
trap 'rm -rf "$PG_BIN"' EXIT
[ $# -gt 0 ] || set -- postgres
bash Tests/Behind/run.sh "$@"
