# Anna and Carl share no network; Bert is on both of theirs. All three are connected, write to each other, and one
# end streams to the other; when Bert goes they lose each other.
host anna bert carl
lan 1 anna bert
lan 2 bert carl
device() { terminal "$1" "$2" "$BIN/example-three-devices" "${@:3}"; }

must "no way from Anna to Carl" [ -z "$(in_host anna ip route get 10.77.2.2 2>/dev/null)" ]
device anna anna Anna
device carl carl Carl
device bert bert Bert middle
for who in Anna Carl; do
    sees bert "^found $who$"
    sees "${who,}" '^Bert invites$'
    sees bert "^$who: connected$"
done
sees anna '^Carl: connected$'
sees carl '^Anna: connected$'
must "nobody is shown without a name" [ "$(times carl ': connecting$')" = "$(times carl '^(Anna|Bert): connecting$')" ]
must "nobody but Bert found anybody" [ "$(times anna '^found')$(times carl '^found')" = 00 ]
types anna who
sees anna '^connected: Bert, Carl$'

types anna 'hello from this end'
sees carl '^Anna says: hello from this end$'
sees bert '^Anna says: hello from this end$'
types carl 'and from the other'
sees anna '^Carl says: and from the other$'

# More than one packet holds.
words=$(seq -s ' ' 1000 1400)
types carl "stream Anna $words"
sees anna '^Carl opens the stream "words"$'
sees anna "^Carl streamed: $words\$"
must "Bert carries it and does not read it" [ "$(times bert 'streamed|opens')" = 0 ]

types bert quit
must "Bert's program ends" until_true 30 has_ended bert
sees anna '^Carl: not connected$' 40
sees carl '^Anna: not connected$' 40
sees anna '^Bert: not connected$'
types anna who
sees anna '^connected: nobody$'

device again bert Bert middle
must "together again" until_true 40 eval '[ "$(times anna "^Carl: connected")" = 2 ]'
types carl 'where were we?'
sees anna '^Carl says: where were we\?$'
