#!/usr/bin/env bash
# cyclone.sh latency: half of the round trip, p50 and p99 in µs, of best-effort DDS samples of 100 bytes, one a
# millisecond, to a peer on the same network which returns them (ddsperf of Debian's cyclonedds-tools): the yardstick
# for `case.sh latency 0`. Not encrypted, though ours is: DDS Security needs certificates and signed documents that no
# package brings. Of the second second, about 1,000 samples; each side has several threads. Status 77: this Debian lacks
# the package. Started by run.sh --peers.
# shellcheck disable=SC2154 # `start` assigns them.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Network/lab.sh
trap lab_down EXIT
. Benchmarks/Peers/peer.sh
[ "${1:-}" = latency ] || { echo "usage: cyclone.sh latency" >&2; exit 2; }
packages cyclonedds-tools
host c a
lan 1 c a
export CYCLONEDDS_URI='<General><Interfaces><NetworkInterface name="eth1"/></Interfaces></General>'
urgent pong c ddsperf -u pong
urgent ping a ddsperf -u -D 3 -Q minmatch:1 -Q initwait:10 ping 1kHz size 100
finished "$ping" "ddsperf"
# "[ID] SECONDS  HOST:ID size 100 mean … 50% 53.433us 90% … 99% 99.974us max … cnt 999", halved already.
awk '/ size 100 mean / && ++line == 2 {
        for (i = 1; i < NF; i++) {
            if ($i == "50%") p50 = $(i + 1)
            if ($i == "99%") p99 = $(i + 1)
            if ($i == "cnt") count = $(i + 1)
        }
    }
    END { if (count < 950) exit 1; printf "%d %d\n", p50, p99 }' "$LAB/ping.out" ||
    { cat "$LAB/ping.out" >&2; fail "too few samples came back in a second"; }
