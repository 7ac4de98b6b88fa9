# Who has a certificate of the authority is let in; who has another's, or none, is not. Then all nine pairs of
# preferences: who gets together, and what a capture on the wire shows of what they write.
host ann bob mal nemo x y
lan 1 ann bob mal nemo
lan 2 x y

# authority NAME: makes one. issue AUTHORITY NAME [ca]: a certificate of it for NAME.
key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
authority() {
    openssl req -x509 "${key[@]}" -days 30 -subj "/CN=$1" -keyout "$LAB/$1.key" -out "$LAB/$1.pem" 2>/dev/null
}
issue() {
    openssl req -new "${key[@]}" -subj "/CN=$2" -keyout "$LAB/$2.key" 2>/dev/null |
        openssl x509 -req -days 30 -CA "$LAB/$1.pem" -CAkey "$LAB/$1.key" -CAcreateserial \
            -extfile <(echo "basicConstraints=${3:+CA:true}${3:-CA:false}" | sed 's/trueca/true/') \
            -out "$LAB/$2.pem" 2>/dev/null || fail "no certificate for $2"
}
# pkcs12 NAME [CERTIFICATE]: key and chain of NAME as one file.
pkcs12() {
    openssl pkcs12 -export -inkey "$LAB/$1.key" -in "$LAB/$1.pem" ${2:+-certfile "$LAB/$2.pem"} \
        -passout pass:opensesame -out "$LAB/$1.p12"
}
authority root
issue root office ca
issue office ann
pkcs12 ann office
issue office bob
pkcs12 bob office
authority other
issue other mal
pkcs12 mal
openssl x509 -in "$LAB/root.pem" -outform der -out "$LAB/root.cer"
must "openssl accepts the chain as well" openssl verify -CAfile "$LAB/root.pem" -untrusted "$LAB/office.pem" \
    "$LAB/ann.pem" >/dev/null

member() { terminal "$1" "$1" "$BIN/example-certificates" "${@:2}" "anchor=$LAB/root.cer"; }
for who in ann bob mal; do member $who "${who^}" "identity=$LAB/$who.p12" password=opensesame; done
member nemo Nemo
sees ann '^Bob shows 2 certificates: trusted$'
sees bob '^Ann shows 2 certificates: trusted$'
sees ann '^Bob is connected$'
sees bob '^Ann is connected$'
sees ann '^Mal shows 1 certificate: refused$'
sees bob '^Mal shows 1 certificate: refused$'
sees ann '^Nemo shows 0 certificates: refused$'
sees mal '^Ann is not connected$'
sees ann '^Mal: .*certificates were refused$'
types ann 'for members only'
sees bob '^Ann says: for members only$'
must "nobody else is connected" [ "$(times mal 'is connected')$(times nemo 'is connected')" = 00 ]
must "nor hears it" [ "$(times mal says)$(times nemo says)" = 00 ]
terminal wrong mal "$BIN/example-certificates" Mal "identity=$LAB/mal.p12" password=wrong
sees wrong '^no: identity: '
must "a wrong password ends it" until_true 30 has_ended wrong 1

# The nine pairs, all at once, each by a service type of its own.
start capture y tcpdump -i eth2 -U --immediate-mode -w "$LAB/wire.pcap" udp
must "the capture runs" until_true 30 grep -q 'listening on' "$LAB/capture.err" 2>/dev/null
number=0
for left in none optional required; do
    for right in none optional required; do
        number=$((number + 1))
        kinds[number]="$left $right"
        terminal "x$number" x "$BIN/example-certificates" "X$number" "encryption=$left" "service=pair-$number"
        terminal "y$number" y "$BIN/example-certificates" "Y$number" "encryption=$right" "service=pair-$number"
    done
done
for number in 1 2 3 4 5 6 7 8 9; do
    case ${kinds[number]} in
        'none required' | 'required none')
            sees "x$number" "^Y$number is not connected$"
            continue
            ;;
    esac
    sees "x$number" "^Y$number is connected$"
    sees "y$number" "^X$number is connected$"
    types "x$number" "an open letter, number $number"
    sees "y$number" "^X$number says: an open letter, number $number$"
    types "y$number" "a reply, number $number"
    sees "x$number" "^Y$number says: a reply, number $number$"
done
for number in 3 7; do
    must "${kinds[number]} do not meet" [ "$(times "x$number" 'is connected')$(times "y$number" 'is connected')" = 00 ]
done
kill -INT "$capture"
wait "$capture"
legible() { grep -qa "an open letter, number $1" "$LAB/wire.pcap" && grep -qa "a reply, number $1" "$LAB/wire.pcap"; }
hidden() { ! grep -qaE "(an open letter|a reply), number $1" "$LAB/wire.pcap"; }
for number in 1 2 4; do must "${kinds[number]}: legible in the capture" legible $number; done
for number in 3 5 6 7 8 9; do must "${kinds[number]}: not in the capture" hidden $number; done

# Wireshark's own eyes, led to the handshakes by deploy/wireshark.lua: DTLS 1.2, from the hello to where ciphers
# change, with a suite that we offer, and not one malformed.
wireshark() { tshark -X lua_script:deploy/wireshark.lua -r "$LAB/wire.pcap" -T fields "$@" 2>/dev/null | tr ',' '\n' | sort -u; }
handshakes=$(wireshark -e dtls.handshake.type | paste -sd' ')
for kind in 1 2 3 11 12 13 14 15 16; do
    must "tshark reads the handshake's message $kind ($handshakes)" grep -qw "$kind" <<<"$handshakes"
done
must "and where ciphers change" grep -qx 20 <(wireshark -e dtls.record.content_type)
must "DTLS 1.2" grep -qx 0xfefd <(wireshark -e dtls.record.version)
must "a suite that we offer" grep -qxE '0xc02b|0xcca9' <(wireshark -Y 'dtls.handshake.type == 2' -e dtls.handshake.ciphersuite)
must "what follows is sealed" [ "$(tshark -X lua_script:deploy/wireshark.lua -r "$LAB/wire.pcap" \
    -Y 'rivulet.kind >= 0x80' 2>/dev/null | wc -l)" -ge 20 ]
must "nothing of it is malformed" [ -z "$(tshark -X lua_script:deploy/wireshark.lua -r "$LAB/wire.pcap" \
    -Y 'dtls && _ws.malformed' 2>/dev/null)" ]
