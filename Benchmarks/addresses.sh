# Sourced: own_addresses HOST COUNT gives each socket of HOST that calls the collector on 10.77.1.1 an address of its own
# out of 10.88.0.0/16, as boards have: what one address may ask for is limited.
own_addresses() {
    local host=$1 count=$2 i
    {
        echo 'table ip crowd { chain post { type nat hook postrouting priority 100;'
        echo "udp dport 4577 snat to numgen inc mod $count map {"
        for i in $(seq 0 $((count - 1))); do echo "$i : 10.88.$((i / 250)).$((i % 250 + 1)),"; done
        printf '}\n}\n}\n'
    } | in_host "$host" nft -f -
}
