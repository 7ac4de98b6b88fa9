# `links.udp.interfaces` names one of two: nobody is answered on the other, not even at the first one's address.
. Tests/Hostile/hostile.sh
host a x
lan 1 a x
lan 2 a x
config a agent "links: {udp: {port: $PORT, interfaces: [eth1]}}"
agent a
must "the agent runs" until_true 30 up a
refused() {
    attack "$@" seconds=3
    attacked "$1" && fail "$1: admitted"
    return 0
}
attack own x join "target=10.77.1.1:$PORT" interface=eth1 seconds=6
must "admitted on the interface that is named" attacked own
refused other x join "target=10.77.2.1:$PORT"
refused weak x join "target=10.77.1.1:$PORT" interface=eth2
frames() { in_host a nft list counter inet count out | sed -n 's/.*packets \([0-9]*\).*/\1/p'; }
in_host a nft -f - <<NFT
table inet count {
    counter out { }
    chain out { type filter hook output priority 0; oifname "eth2" udp sport $PORT counter name out; }
}
NFT
refused again x join "target=10.77.2.1:$PORT"
must "not a word leaves on the other interface ($(frames))" [ "$(frames)" = 0 ]
