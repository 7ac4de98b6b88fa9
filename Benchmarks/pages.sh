#!/usr/bin/env bash
# pages.sh NODES CHANNELS PAGES: the page of so many nodes, every value of which is another each second, with so many
# open at once, in a network namespace; nothing but the page runs in that process. Started by run.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
nodes=$1 channels=$2 pages=$3
host c
ulimit -n "$(ulimit -Hn)"
secret "$LAB/secret"
config c collector "web: {port: 8080}"
start bench c "$BIN/page-bench" "$LAB/c.yaml" "$LAB/readings.sqlite" "$nodes" "$channels" 600
until_true 300 grep -q serving "$LAB/bench.out"

# took PATH: the median of five, milliseconds, and kilobytes; times differ, and each has a snapshot of its own, so that
# none is answered twice.
took() {
    local i
    for i in 1 2 3 4 5; do
        sleep 1.2
        in_host c curl -sS -m 60 -o /dev/null -w '%{time_total} %{size_download}\n' "http://127.0.0.1:8080${1/NOW/$(($(date +%s) + i))000}"
    done | sort -n | sed -n 3p | awk '{ printf "%.0f ms, %.0f kB", $1 * 1e3, $2 / 1e3 }'
}
page() { in_host c curl -sS -m 60 "http://127.0.0.1:8080$1"; }
node=$(page /api/fleet | jq -r '.nodes[-1].peer')
from=$(($(date +%s) - 3600))000
for path in /api/fleet /metrics "/api/lines?node=$node&from=$from&to=NOW" \
    "/api/chart?node=$node&channel=channel%201&points=600&from=$from&to=NOW" "/api/gaps?node=$node" "/api/mesh?at=NOW"; do
    echo "the page of $nodes nodes with $channels channels, ${path%%\?*}: $(took "$path")"
done
in_host c python3 Tests/Behind/web/crowd.py http://127.0.0.1:8080 "$bench" 1
in_host c python3 Tests/Behind/web/crowd.py http://127.0.0.1:8080 "$bench" "$pages"
