# Sourced, after Tests/Network/lab.sh, by what measures two relays side by side, r1 and r2, between the hosts c and a.

diamond() {
    host c r1 r2 a
    lan 1 c r1
    lan 2 c r2
    lan 3 r1 a
    lan 4 r2 a
}

# relay_in_use: the one that carries the messages now.
relay_in_use() {
    local before1 before2
    before1=$(carried r1) before2=$(carried r2)
    sleep 0.5
    if [ $(($(carried r1) - before1)) -gt $(($(carried r2) - before2)) ]; then echo r1; else echo r2; fi
}

# carried HOST: bytes that its interfaces have received.
carried() { in_host "$1" awk '/eth/ { sum += $2 } END { print sum }' /proc/net/dev; }

# silence HOST: it says, hears and forwards nothing, and nobody is told.
silence() {
    in_host "$1" nft 'add table inet silence
        add chain inet silence out { type filter hook output priority 0; oifname != "lo" drop; }
        add chain inet silence forward { type filter hook forward priority 0; drop; }
        add chain inet silence in { type filter hook input priority 0; iifname != "lo" drop; }'
}

# uncable RELAY: the interface of a that leads to it.
uncable() { in_host a ip link set "$([ "$1" = r1 ] && echo eth3 || echo eth4)" down; }
