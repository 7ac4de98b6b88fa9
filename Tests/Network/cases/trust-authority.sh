# Nodes that an authority has certified find and admit each other; who has no certificate is refused, and a
# collector whose certificate does not say so does not start. The openssl program agrees.
. Tests/Network/authority.sh
host c a b d
lan 1 c a b d
must "an authority" authority
trust="{authority: $LAB/authority.pem}"
keyed c collector "$trust" 'links: {udp: {port: 4577}}'
keyed a agent "$trust" "$SENSOR"
keyed b agent any "$SENSOR
links: {udp: {peers: [\"10.77.1.1:4577\"]}}"
keyed d collector "$trust"

# Before there is a certificate.
"$BIN/rivulet-agent" --config "$LAB/a.yaml" 2>"$LAB/early.err"
must "no start without one" [ $? = 78 ]
must "which says what to do" grep -q "a.yaml:3:8: trust: $LAB/a/certificate.pem is not there (.rivulet identity --help" "$LAB/early.err"
must "check says it too" [ "$("$BIN/rivulet" check "$LAB/a.yaml" 2>&1 | grep -c 'is not there')" = 1 ]

must "the collector's certificate" certify c collector
must "the agent's certificate" certify a agent
must "openssl verifies it" openssl verify -CAfile "$LAB/authority.pem" "$LAB/a/certificate.pem" >/dev/null
must "and reads the request" openssl req -in "$LAB/a.csr" -verify -noout 2>/dev/null
must "check is content" "$BIN/rivulet" check "$LAB/a.yaml" >/dev/null
must "it is for the node's own key" grep -q "^peer  *[a-z2-7-]*$" <<<"$(identity show a)"
must "with its role" grep -q "^roles  *collector$" <<<"$(identity show c)"

# One that was signed for less than it wants to be, and one for somebody else's key.
identity request d >"$LAB/d.csr"
must "signed as an agent" sign d agent
must "not imported" [ "$(identity import d "$LAB/d.pem" 2>&1 | grep -c 'does not name the role collector')" = 1 ]
cp "$LAB/d.pem" "$LAB/d/certificate.pem"
timeout 10 "$BIN/rivulet" collect --config "$LAB/d.yaml" >/dev/null 2>"$LAB/role.err"
must "no collector without the role" [ $? = 78 ]
must "which it says" grep -q "does not name the role collector" "$LAB/role.err"
must "another's is refused" [ "$(identity import a "$LAB/c.pem" 2>&1 | grep -c 'is for the key of')" = 1 ]

collect c
agent a
agent b
must "the certified one gets in" until_true 30 has_rows c a
refused() { [ "$(drops c handshake-certificate)" -gt 0 ]; }
must "the other one is refused and counted" until_true 30 refused
must "with a reason" until_true 30 grep -q "does not lead to our authority: self" "$LAB/collect_c.err"
must "no reading of it" [ "$(rows c b)" = 0 ]
must "the right one goes on" more_rows c a

# openssl s_client, with an identity of the authority and without.
openssl ecparam -name prime256v1 -genkey -noout -out "$LAB/x.key" 2>/dev/null
openssl req -new -key "$LAB/x.key" -subj /CN=x -out "$LAB/x.csr"
must "an identity for openssl" sign x agent
openssl req -x509 -new -key "$LAB/x.key" -subj /CN=x -days 1 -out "$LAB/own.pem"
client() {
    (sleep 2) | in_host b timeout 10 openssl s_client -dtls1_2 -connect 10.77.1.1:4577 -key "$LAB/x.key" \
        -cert "$1" -CAfile "$LAB/authority.pem" >"$2" 2>&1
}
client "$LAB/x.pem" "$LAB/x.out"
must "its handshake completes" grep -q "Cipher is ECDHE-ECDSA" "$LAB/x.out"
must "and openssl trusts ours" grep -q "Verify return code: 0 (ok)" "$LAB/x.out"
client "$LAB/own.pem" "$LAB/own.out"
must "without one it is refused" grep -q "alert unknown ca" "$LAB/own.out"
