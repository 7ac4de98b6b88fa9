# Every behaviour of the chat: the list grows and shrinks, a tap invites, the other is asked; visible and invisible;
# the end of a chat by hand, and by a peer that vanishes.
host ann gabe jeff zoe bea
lan 1 ann gabe jeff
lan 2 zoe bea
chat() { terminal "$1" "$2" "$BIN/example-chat-of-two" "$3"; }

# lists NAME PEERS: the names in the list that was printed last, in any order, with spaces between; tap NAME PEER.
last_list() { long "$1" | awk '/^== Nearby/ { list = "" } /^  [0-9]+  / { list = list $0 "\n" } END { printf "%s", list }'; }
lists() { [ "$(last_list "$1" | awk '{ print $2 }' | sort | xargs)" = "$2" ]; }
tap() { types "$1" "$(last_list "$1" | awk -v name="$2" '$2 == name { print $1 }')"; }

# Elsewhere somebody is asked and does not answer, while all that follows happens.
chat zoe zoe Zoe
chat bea bea Bea
must "Zoe sees Bea" until_true 40 lists zoe "Bea"
tap zoe Bea
asked=$SECONDS
sees bea 'Zoe wants to chat'

chat ann ann Ann
sees ann '== Nearby; you are visible =='
must "nobody is there" lists ann ""
chat gabe gabe Gabe
must "Ann's list grows" until_true 40 lists ann "Gabe"
must "Gabe's as well" until_true 40 lists gabe "Ann"

types gabe v
sees gabe 'you are invisible'
must "who is invisible goes from the list of others" until_true 40 lists ann ""
must "and sees them still" lists gabe "Ann"
types gabe v
must "visible again" until_true 40 lists ann "Gabe"

tap ann Gabe
sees ann 'Gabe is asked'
sees gabe 'Ann wants to chat with you. Accept\?'
types gabe no
sees ann 'Gabe is not connected'

tap ann Gabe
must "asked again" until_true 30 eval '[ "$(times gabe "Ann wants to chat")" = 2 ]'
types gabe yes
sees ann '== Chat with Gabe'
sees gabe '== Chat with Ann'
types ann 'Hello Gabe, “how” are you? 😀'
sees gabe '^Ann says: Hello Gabe, “how” are you\? 😀$'
types gabe 'Fine'
sees ann '^Gabe says: Fine$'

# A third is declined while two chat.
chat jeff jeff Jeff
must "Jeff sees both" until_true 40 lists jeff "Ann Gabe"
tap jeff Ann
sees jeff 'Ann is not connected'
must "Ann is not bothered" [ "$(times ann 'Jeff wants')" = 0 ]

types ann end
sees ann 'You ended this chat'
sees gabe 'Ann ended this chat'
must "nothing else is said of it" [ "$(times gabe 'connection with Ann is gone')" = 0 ]
must "back in the list" until_true 30 lists gabe "Ann Jeff"

# Again, with the same session; then one vanishes.
tap gabe Ann
sees ann 'Gabe wants to chat with you. Accept\?'
types ann yes
must "they chat again" until_true 30 eval '[ "$(times gabe "== Chat with Ann")" = 2 ]'
types ann 'Where were we?'
sees gabe '^Ann says: Where were we\?$'
# Looked at before the clock: on a slow machine they may be.
over=$(times zoe 'Bea is not connected')
[ $((SECONDS - asked)) -ge 20 ] || must "Bea's 20 seconds are not over" [ "$over" = 0 ]
kill -KILL "$(process ann)"
sees gabe 'The connection with Ann is gone' 40
must "who vanished goes from the list" until_true 40 lists gabe "Jeff"
must "for others too" until_true 40 lists jeff "Gabe"

sees zoe 'Bea is not connected' 25
types bea yes
sees bea 'Zoe is not connected'
must "an answer that is too late connects nobody" [ "$(times zoe '== Chat')$(times bea '== Chat')" = 00 ]
