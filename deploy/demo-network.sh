#!/usr/bin/env bash
# The demo's nodes; started by demo.sh, as root, with BIN and KEEP.
set -euo pipefail
cd "$(dirname "$0")/.."
. Tests/Network/lab.sh
trap lab_down EXIT
trap 'exit 130' INT TERM

host collector relay north south
lan 1 collector relay north
lan 2 relay south
secret "$LAB/secret"
sensors='sensors:
  - {driver: system, every: 1s, disks: []}
  - {driver: command, run: ["/usr/bin/nproc"], every: 1s, name: processors, unit: count}'
config collector collector
config relay relay
config north agent "$sensors"
config south agent "$sensors"

for name in relay north south; do agent "$name"; done
echo "collector, relay and two agents are up; a window is 3 s"
if [ -n "${KEEP:-}" ]; then
    echo "configurations and control sockets are in $LAB; Ctrl-C ends it all"
    in_host collector "$BIN/rivulet" collect --config "$LAB/collector.yaml" --every 3s || true
else
    (sleep 9 && "$BIN/rivulet" status --socket "$LAB/south.sock" >"$LAB/south.status") &
    PIDS+=($!)
    in_host collector "$BIN/rivulet" collect --config "$LAB/collector.yaml" --every 3s --for 11s |
        cat
    echo
    echo "what the agent south knows (rivulet status):"
    cat "$LAB/south.status"
fi
