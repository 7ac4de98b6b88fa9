# Sourced by the peers from the project's folder.
. deploy/common.sh

# packages PACKAGE…: what Debian has none of is no failure, but nothing to compare with: 77.
packages() {
    local package known=yes
    for package; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q ' installed$' || known=
    done
    [ -z "$known" ] || return 0
    one_at_a_time apt-get -qq update
    for package; do
        [ -n "$(apt-cache madison "$package")" ] || skip "this Debian has no package $package"
    done
    need "$@" >&2
}

skip() {
    echo "${0##*/}: skipped: $*" >&2
    exit 77
}
