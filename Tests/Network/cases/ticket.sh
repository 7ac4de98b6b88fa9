# Two nodes that hear no beacons meet by a ticket; one that expired, is damaged, or of another network says so.
host c a x
lan 1 c a x
quiet='links: {udp: {beacon: false}}'
config c collector "$quiet"
config a agent "$SENSOR
$quiet"
NETWORK=elsewhere config x agent "$quiet"
collect c
agent a
agent x
on() { local name=$1; shift; "$BIN/rivulet" "$@" --socket "$LAB/$name.sock"; }
must "the collector is up" until_true 30 status c
must "the others are up" until_true 30 status a
sleep 1
must "nobody was found" [ "$(rows c a)" = 0 ]

ticket=$(on c ticket --valid 10min)
must "a ticket: $ticket" [ "${ticket#rivulet-}" != "$ticket" ]
# refused NODE PATTERN TICKET
refused() {
    local said
    said=$(on "$1" connect "$3" 2>&1) && return 1
    echo "$said" | grep -q "$2" || { echo "said: $said"; return 1; }
}
must "another network's is refused" refused x "belongs to a network other than" "$ticket"
must "our own is refused" refused c "our own" "$ticket"
must "a part is refused" refused a "not complete" "${ticket%????}"
# One digit of the proof, which comes last.
case $ticket in *b????) wrong=c ;; *) wrong=b ;; esac
damaged=${ticket%?????}$wrong${ticket:$((${#ticket} - 4))}
must "a misprint is refused" refused a "does not prove" "$damaged"
must "anything else is refused" refused a "not a ticket" "hello"
short=$(on c ticket --valid 1s)
sleep 1.5
must "an old one is refused" refused a "expired" "$short"
must "still nobody" [ "$(rows c a)" = 0 ]

must "connected" [ "$(on a connect "$ticket")" = "connected to c" ]
must "readings" until_true 30 has_rows c a

# The code in the terminal is the one that the usual program makes of the same ticket.
on c ticket --valid 1h --qr >"$LAB/code"
ticket=$(head -n 1 "$LAB/code")
qrencode -t UTF8 -l M -m 2 "$(echo "$ticket" | tr a-z A-Z)" | sed 's/[[:cntrl:]]\[[0-9;]*m//g' >"$LAB/expected"
must "the QR code" diff <(tail -n +2 "$LAB/code") "$LAB/expected"
