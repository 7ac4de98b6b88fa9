# Two of one identity swap tokens and leave a third alone; on another network two that take anybody.
host ann bob eve fay gil
lan 1 ann bob eve
lan 2 fay gil
swap() { terminal "$1" "$1" "$BIN/example-tokens" "${@:2}"; }
token() { long "$1" | sed -n 's/^I am .* My token: \([0-9a-f]*\)$/\1/p'; }

swap ann Ann family
swap bob Bob family
swap eve Eve another
swap fay Fay
swap gil Gil
for pair in 'ann bob' 'bob ann' 'fay gil' 'gil fay'; do
    read -r one other <<<"$pair"
    sees $one "^${other^} is connected: sending the token$"
    must "$other has a token" [ "$(token $other | tr -d '\n' | wc -c)" = 32 ]
    sees $one "^${other^}'s token: $(token $other)$"
done
must "they differ" [ "$(token ann)" != "$(token bob)" ]
sees ann "^Eve is another's: not invited$"
sees eve "^Ann is another's: not invited$"
must "Eve got no token" [ "$(times eve token:)" = 1 ]
must "nobody is shown before what is advertised" [ "$(times ann "Bob is another's")$(times ann 'not nearby')" = 00 ]

# Somebody who invites without the identity is turned away.
terminal abe eve "$BIN/example-tokens" Abe
sees ann "^invited by Abe, another's: declined$"
sees abe '^Ann is gone'
must "Abe got no token of Ann" [ "$(times abe "Ann's token")" = 0 ]

types gil ''
must "Gil's program ends" until_true 30 has_ended gil
sees fay '^Gil is gone, and its token with it$'
