# Sourced by the peers from the project's folder.
. deploy/common.sh

# packages PACKAGE…: what Debian has none of is no failure, but nothing to compare with: 77.
packages() {
    local package known=yes
    for package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q ' installed$' || known=
    done
    [ -z "$known" ] || return 0
    one_at_a_time apt-get -qq update || true
    for package; do
        [ -n "$(apt-cache madison "$package")" ] || skip "this Debian has no package $package"
    done
    # Servers of these packages do not start by themselves: here they would take ports and time from those measured.
    local policy=/usr/sbin/policy-rc.d made=
    [ -e "$policy" ] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" && made=yes; }
    (need "$@") >&2 || known=no
    [ -z "$made" ] || rm -f "$policy"
    [ "$known" != no ] || exit 1
}

skip() {
    echo "${0##*/}: skipped: $*" >&2
    exit 77
}
