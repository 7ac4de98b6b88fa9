# One controller is connected to two others at once, over LE channels, and both get what it sends.
. Tests/Lab/guest.sh
controllers 3
for index in 1 2; do
    start_here "server_$index" l2test -r -i "hci$index" -P 129 -V le_public
    advertise $index
done

# send INDEX: messages of 100 bytes, ten a second, for two minutes: the second link comes meanwhile.
send() {
    start_here "client_$1" timeout 180 l2test -s -i hci0 -P 129 -V le_public \
        -b 100 -N 1200 -D 100 "${ADDRESSES[$1]}"
}

# has_enough_of INDEX: 2,100 bytes came; the server counts by the 700.
has_enough_of() {
    local bytes
    bytes=$(sed -n 's/.*: \([0-9]*\) bytes in .*/\1/p' "$LAB/server_$1.err" | paste -sd+)
    [ "$((bytes + 0))" -ge 2100 ]
}

connected_to() { grep -q 'Connected to' "$LAB/client_$1.err"; }

send 1
must "the first link" until_true 90 connected_to 1
send 2
must "the second link, while the first is up" until_true 90 connected_to 2
kill -0 "$client_1" || fail "the first link ended too early to prove anything"
must "the data came over the first" until_true 60 has_enough_of 1
must "the data came over the second" until_true 60 has_enough_of 2
