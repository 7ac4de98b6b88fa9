#!/usr/bin/env bash
# coap.sh latency: half of the round trip, p50 and p99 in µs, of non-confirmable CoAP requests of 100 bytes, one a
# millisecond, which a server on the same network answers with as many, over one DTLS session with a pre-shared key
# (Debian's libcoap, coap_peer.c): the yardstick for `case.sh latency 0`. Status 77: this Debian lacks a package.
# Started by run.sh --peers.
# shellcheck disable=SC2154 # `start` assigns them.
set -euo pipefail
cd "$(dirname "$0")/../.."
. Tests/Network/lab.sh
trap lab_down EXIT
. Benchmarks/Peers/peer.sh
[ "${1:-}" = latency ] || { echo "usage: coap.sh latency" >&2; exit 2; }
packages libcoap3-dev libssl-dev gcc libc6-dev
compile coap_peer -lcoap-3-openssl -lssl
psk "$LAB/keys"
host c a
lan 1 c a
urgent serve c "$LAB/coap_peer" serve "$LAB/keys" 10.77.1.1 5684
listens() { in_host c ss -Hlun 'sport = :5684' | grep -q .; }
until_true 10 listens || fail "the server does not listen"
urgent ask a "$LAB/coap_peer" ask "$LAB/keys" 10.77.1.1 5684 1000
finished "$ask" "the client"
cat "$LAB/ask.out"
