# Found and lost, a context, an invitation that is declined, one that nobody answers in time, and one whose answer
# takes long.
host ann gabe
lan 1 ann gabe
terminal ann ann "$BIN/example-invitations" Ann 'in a hurry'
terminal gabe gabe "$BIN/example-invitations" Gabe 'half asleep'
sees ann 'Found Gabe, half asleep' 40
sees gabe 'Found Ann, in a hurry' 40

types ann '/invite Gabe come and chat'
sees gabe 'Ann invites you: “come and chat”'
must "nobody is connected unasked" [ "$(times ann 'is here')" = 0 ]
types gabe /decline
sees ann 'Gabe is not connected'
sees ann 'Gabe: .*declined'

types ann '/timeout 2' '/invite Gabe now or never'
sees gabe 'Ann invites you: “now or never”'
looks_at ann 'Invited Gabe, who has 2 s'
must "the time is over" until_true 15 eval '[ "$(times ann "Gabe is not connected")" = 2 ]'
# Too late.
types gabe /accept
must "an answer that is too late connects nobody" until_true 30 showed gabe 'Ann is not connected'
must "on neither side" [ "$(times ann 'is here')$(times gabe 'is here')" = 00 ]

types ann '/timeout 60' '/invite Gabe take your time'
sees gabe 'Ann invites you: “take your time”'
# Longer than any of the clocks below: a handshake's, a retransmission's, a beacon's.
sleep 8
must "the question still stands" [ "$(times ann 'Gabe is not connected')" = 2 ]
types gabe /accept
sees ann 'Gabe is here'
sees gabe 'Ann is here'
types gabe 'Here I am'
sees ann '^Gabe: Here I am$'
types ann '/stream steps'
sees gabe 'Ann begins a stream named “steps”'
types ann 'one' '/end'
sees gabe '^Ann, steps: one$'
echo "a note" >"$LAB/home_gabe/note.txt"
types gabe '/file note.txt'
sees ann 'note.txt from Gabe is kept as'
must "the file is there" cmp "$LAB/home_gabe/note.txt" "$LAB/home_ann/Received/note.txt"

must "Gabe was there all the time" [ "$(times ann 'Lost Gabe')" = 0 ]
types gabe /quit
sees ann 'Lost Gabe' 40
types ann /nearby
sees ann 'Nobody is nearby'

# Where an Avahi daemon runs, its tools show who advertises, with the discovery info; and where it is the only way,
# it is enough to find each other. No other multicast passes than that of DNS-SD.
. Tests/Network/avahi.sh
host ivy joe
lan 2 ivy joe
for name in ivy joe; do
    bus $name
    avahi $name
    in_host $name nft -f - <<'RULES'
table inet only_avahi {
    chain output {
        type filter hook output priority 0
        ip daddr 224.0.0.0/4 ip daddr != 224.0.0.251 counter drop
        ip daddr 255.255.255.255 counter drop
        ip6 daddr ff00::/8 udp dport != 5353 counter drop
    }
}
RULES
done
terminal ivy ivy "$BIN/example-invitations" Ivy 'on the air'
terminal joe joe "$BIN/example-invitations" Joe 'all ears'
NETWORK=rv-invitations
must "avahi-browse shows Ivy with her discovery info" until_true 40 shows joe '^=;eth2;IPv4;Ivy;.*"mood=on the air"'
must "and Joe to himself" until_true 40 shows ivy '^=;eth2;IPv4;Joe;.*"mood=all ears"'
sees joe 'Found Ivy, on the air' 40
types ivy '/invite Joe by Avahi alone'
sees joe 'Ivy invites you: “by Avahi alone”'
types joe /accept
sees ivy 'Joe is here'
must "what else there was to hear was kept back" [ "$(in_host ivy nft list chain inet only_avahi output | grep -c 'packets [1-9]')" -ge 1 ]
types ivy /quit
sees joe 'Lost Ivy' 40
must "and Avahi shows her no longer" until_true 30 eval '! shows joe "^=;eth2;IPv4;Ivy;"'

# What cannot be a name ends the program with a sentence.
long=$(printf 'x%.0s' {1..64})
must "64 bytes are too long for a name" grep -q 'a display name has 1 to 63 bytes of UTF-8, this one has 64: choose another' \
    <(in_host ann env SWIFT_BACKTRACE=enable=no "$BIN/example-invitations" "$long" 2>&1)
