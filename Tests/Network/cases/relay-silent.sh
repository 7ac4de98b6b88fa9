# Of two relays in parallel the active one falls silent: its packets are dropped, its process lives.
. Tests/Network/diamond.sh
diamond_up
active=$(active_relay)
in_host "$active" nft -f - <<NFT
table inet silence {
    chain in { type filter hook input priority 0; drop; }
    chain out { type filter hook output priority 0; oifname != "lo" drop; }
}
NFT
must_flow_again_within 1000
