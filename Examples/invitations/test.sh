# Found and lost, a context, an invitation that is declined, one that nobody answers in time, and one whose answer
# takes long.
host ann gabe
lan 1 ann gabe
terminal ann ann "$BIN/example-invitations" Ann 'in a hurry'
terminal gabe gabe "$BIN/example-invitations" Gabe 'half asleep'
sees ann 'Found Gabe, half asleep' 20
sees gabe 'Found Ann, in a hurry' 20

types ann '/invite Gabe come and chat'
sees gabe 'Ann invites you: “come and chat”'
must "nobody is connected unasked" [ "$(times ann 'is here')" = 0 ]
types gabe /decline
sees ann 'Gabe is not connected'
sees ann 'Gabe: .*declined'

types ann '/timeout 2' '/invite Gabe now or never'
sees gabe 'Ann invites you: “now or never”'
looks_at ann 'Invited Gabe, who has 2 s'
must "the time is over" until_true 10 eval '[ "$(times ann "Gabe is not connected")" = 2 ]'
# Too late.
types gabe /accept
must "an answer that is too late connects nobody" until_true 10 showed gabe 'Ann is not connected'
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
sees ann 'Lost Gabe' 20
types ann /nearby
sees ann 'Nobody is nearby'
