# Devices of one room find and invite each other, both at once, and are connected once, each over a session of its
# own; who comes back after a new start, or from the background, is the same device.
host ann gabe jeff zoe bea
lan 1 ann gabe jeff zoe bea
device() { terminal "$1" "$2" "$BIN/example-device-list" "$3" "${4:-kitchen}"; }

# states NAME: the list printed last, each `NAME: STATE` in order of name, on one line.
states() {
    long "$1" | awk '/^-- [0-9]+ devices/ { list = "" } /^  [0-9]+  / { sub(/^ +[0-9]+ +/, ""); list = list $0 "\n" }
        END { printf "%s", list }' | sort | paste -sd';'
}
has_states() { [ "$(states "$1")" = "$2" ]; }
number() { long "$1" | sed -n "s/^  \([0-9]*\)  $2: .*/\1/p" | tail -1; }

device ann ann Ann
device gabe gabe Gabe
device zoe zoe Zoe garden
must "both invite, and are connected" until_true 40 has_states ann "Gabe: connected"
must "both see it so" until_true 30 has_states gabe "Ann: connected"
device jeff jeff Jeff
must "a third" until_true 40 has_states ann "Gabe: connected;Jeff: connected"
must "with everybody" until_true 40 has_states jeff "Ann: connected;Gabe: connected"
must "who is in another room is not listed" has_states zoe ""

types jeff "$(number jeff Ann) only for you"
sees ann '^Jeff writes: only for you$'
types ann "$(number ann Gabe) and for you"
sees gabe '^Ann writes: and for you$'
must "nobody else reads it" [ "$(times gabe 'only for you')$(times jeff 'Ann writes')" = 00 ]

# One session ends, the others do not.
types ann "-$(number ann Jeff)"
must "Ann parted from Jeff" until_true 30 has_states ann "Gabe: connected;Jeff: not connected"
must "Jeff sees it" until_true 30 has_states jeff "Ann: not connected;Gabe: connected"
types ann "+$(number ann Jeff)"
must "together again" until_true 40 has_states ann "Gabe: connected;Jeff: connected"
types ann "$(number ann Jeff) again"
sees jeff '^Ann writes: again$'

# A new start with the same peer ID: no second Gabe.
kill -KILL "$(process gabe)"
must "Gabe is gone" until_true 40 has_states ann "Jeff: connected"
device gabe2 gabe Gabe
must "Gabe is back" until_true 40 has_states ann "Gabe: connected;Jeff: connected"
must "for everybody, and once" until_true 40 has_states jeff "Ann: connected;Gabe: connected"

# Into the background, and back.
terminal shell bea bash --norc -i
types shell "$BIN/example-device-list Bea kitchen"
must "from a shell" until_true 40 has_states ann "Bea: connected;Gabe: connected;Jeff: connected"
presses shell C-z
sees shell 'Stopped'
must "who sleeps is gone at once" until_true 10 has_states ann "Gabe: connected;Jeff: connected"
types shell fg
must "and comes back" until_true 40 has_states ann "Bea: connected;Gabe: connected;Jeff: connected"
must "with everybody" until_true 40 has_states shell "Ann: connected;Gabe: connected;Jeff: connected"
