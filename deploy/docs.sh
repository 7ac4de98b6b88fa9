#!/usr/bin/env bash
# Makes the documentation of the libraries with DocC, which every Swift brings: deploy/docs.sh [FOLDER], by default
# .build-docs, where NAME.doccarchive is a web site for each. Needs a debug build (`swift build`), whose folder of
# modules MODULES may name. Ends with an error if DocC has a warning, if a public symbol is without a comment or if
# a step of the tutorial does not compile.
set -euo pipefail
. "$(dirname "$0")/common.sh"

libraries=(Nearby MultipeerConnectivity NearbyReadings)
out=${1:-$TOP/.build-docs}
MODULES=${MODULES:-$(swift build --show-bin-path)/Modules}
graphs=$out/graphs
mkdir -p "$graphs"
[ -f "$MODULES/Nearby.swiftmodule" ] || die "there is no build in $MODULES: run swift build first"
command -v docc >/dev/null || die "needs docc, which comes with Swift from swift.org"

# What the modules' own C targets look like.
includes=(-I "$MODULES")
for map in "$TOP"/Sources/C*/module.modulemap; do includes+=(-Xcc "-fmodule-map-file=$map"); done
target=$(swiftc -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')

# undocumented GRAPH: public symbols without a comment. What the compiler makes of its own accord has none.
undocumented() {
    sqlite3 :memory: "
        SELECT json_extract(value, '\$.kind.displayName') || ' ' ||
            (SELECT group_concat(part.value, '.') FROM json_each(symbol.value, '\$.pathComponents') AS part)
        FROM json_each(readfile('$1'), '\$.symbols') AS symbol
        WHERE json_extract(value, '\$.docComment') IS NULL
            AND json_extract(value, '\$.identifier.precise') NOT LIKE '%::SYNTHESIZED::%'
            AND json_extract(value, '\$.location') IS NOT NULL"
}

for library in "${libraries[@]}"; do
    mkdir -p "$graphs/$library"
    swift symbolgraph-extract -module-name "$library" -target "$target" "${includes[@]}" \
        -minimum-access-level public -output-dir "$graphs/$library"
    bare=$(undocumented "$graphs/$library/$library.symbols.json")
    [ -z "$bare" ] || die "$library: without a comment:"$'\n'"$bare"
    rm -rf "$out/$library.doccarchive"
    docc convert "Sources/$library/$library.docc" --additional-symbol-graph-dir "$graphs/$library" \
        --fallback-display-name "$library" --fallback-bundle-identifier "rivulet.$library" \
        --warnings-as-errors --output-path "$out/$library.doccarchive"
done

# The tutorial's steps: each compiles, and the last one is the program that the tests run.
steps=(Sources/Nearby/Nearby.docc/Resources/*.swift)
for step in "${steps[@]}"; do swiftc -typecheck -swift-version 6 "${includes[@]}" "$step"; done
diff "${steps[-1]}" Examples/hello/main.swift || die "the tutorial's last step is not Examples/hello"

echo "documentation: ${libraries[*]/#/$out/}"
