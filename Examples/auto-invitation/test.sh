# Three start at once, all advertise and browse: of each two exactly one invites, and all are connected. Who starts
# again is the same peer, and the same one invites.
host ann bob cid
lan 1 ann bob cid
meet() { terminal "$1" "$2" "$BIN/example-auto-invitation" "$3"; }
# in_all PATTERN: in how many lines it stands, on all three terminals together.
in_all() { echo $(($(times ann "$1") + $(times bob "$1") + $(times cid "$1"))); }

meet ann ann Ann
meet bob bob Bob
meet cid cid Cid
for who in ann bob cid; do
    sees $who "^I am ${who^}, a new peer\.$"
    for other in Ann Bob Cid; do
        [ "$other" = "${who^}" ] || sees $who "^$other is connected$"
    done
done
must "each of the three pairs has one who invites" [ "$(in_all ': inviting$')" = 3 ]
must "and one who waits" until_true 30 eval '[ "$(in_all "waiting for its invitation")" = 3 ]'
must "nobody is invited twice" [ "$(in_all '^invited by')" -le 3 ]
types ann 'all here?'
for who in bob cid; do sees $who '^Ann says: all here\?$'; done
must "once" [ "$(in_all 'all here\?')" = 3 ]

inviter=$(times ann '^found Bob: inviting')
types ann quit
must "Ann's program ends" until_true 30 has_ended ann
for who in bob cid; do sees $who '^Ann is not connected$'; done
sees bob '^lost Ann$'
meet ann2 ann Ann
sees ann2 '^I am Ann, the same peer as last time\.$'
for who in bob cid; do sees $who '^Ann is connected, again$'; done
sees ann2 '^Bob is connected$'
sees ann2 '^found Bob: '
must "the same one invites" [ "$(times ann2 '^found Bob: inviting')" = "$inviter" ]
types bob 'welcome back'
sees ann2 '^Bob says: welcome back$'

# Killed without a word, and back at once, again and again: whoever invites, they find together.
back() { [ "$(times bob '^Ann is connected, again$')" = "$1" ] && [ "$(times cid '^Ann is connected, again$')" = "$1" ]; }
for round in 2 3 4; do
    kill -9 "$(process "ann$round")"
    meet ann$((round + 1)) ann Ann
    must "after kill $((round - 1)) she is connected again" until_true 40 back "$round"
done
types ann5 'still here'
for who in bob cid; do sees $who '^Ann says: still here$'; done

# Another name is another peer.
types cid quit
must "Cid's program ends" until_true 30 has_ended cid
meet cleo cid Cleo
sees cleo '^I am Cleo, a new peer\.$'
sees bob '^Cleo is connected$'
