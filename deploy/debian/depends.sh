#!/usr/bin/env bash
# depends.sh ROOT PROGRAM: the libraries that a program of another system or architecture needs, as Depends:.
# dpkg-shlibdeps wants that system's packages installed; this takes names and versions from the lists of symbols in
# ROOT, a Debian root of the same release: `libssl3t64 (>= 3.0.0), …`.
set -euo pipefail
root=$1 program=$2
info=$root/var/lib/dpkg/info
symbols=$(mktemp)
trap 'rm -f "$symbols"' EXIT
readelf --dyn-syms -W "$program" | awk '$7 == "UND" && $8 { sub(/@@/, "@", $8); print ($8 ~ /@/) ? $8 : $8 "@Base" }' \
    >"$symbols"

# Each library's package, and the newest version that brought one of the symbols in use.
readelf -dW "$program" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r library; do
    [[ $library != ld-linux* ]] || continue
    list=$(grep -l "^${library//./\\.} " "$info"/*.symbols | head -n 1) ||
        { echo "no package in $root has the symbols of $library" >&2; exit 1; }
    awk -v library="$library" '
        FNR == NR { used[$1] = 1; next }
        /^[^ *|]/ { inside = $1 == library; if (inside) print $2, 0; package = $2; next }
        inside && /^ / && ($1 in used) { print package, $2 }' "$symbols" "$list"
done | sort -u | while read -r package version; do
    [ "$package" = "${last:-}" ] || { last=$package newest=0; }
    ! dpkg --compare-versions "$version" gt "$newest" || newest=$version
    echo "$last $newest"
done | awk '{ newest[$1] = $2 } END { for (name in newest) print name, newest[name] }' | sort |
    awk '{ printf "%s%s%s", (NR > 1 ? ", " : ""), $1, ($2 == 0 ? "" : " (>= " $2 ")") } END { print "" }'
