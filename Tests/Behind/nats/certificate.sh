# TLS: an expired certificate, one of another authority, then the right one.
server_authority
server_authority other
server_certificate expired 0
server_certificate stranger 365 other
server_certificate good
site
nats_single() {
    cat >"$LAB/single.conf" <<CONF
listen: 127.0.0.1:4221
http: 127.0.0.1:8221
jetstream { store_dir: "$LAB/single" }
authorization { users: [ {user: rivulet, password: right-word} ] }
tls { cert_file: "$LAB/$1.pem", key_file: "$LAB/$1.key" }
CONF
    start single c "$NATS_SERVER" -c "$LAB/single.conf"
    until_true 60 nats_healthy 1 || fail "nats-server does not start"
}
(umask 077 && echo right-word >"$LAB/password")
nats_single expired
collector_up "$(nats_output ", tls: {ca: $LAB/ca.pem}")"
agent_up
must "expired is told" until_true 60 says "nats.*certificate has expired.*its date"
must "readings" more_readings 20
must "once" says_once "certificate has expired"
stop "$single"
nats_single stranger
must "a stranger's is told" until_true 90 says "nats.*(unable to get local issuer|self.signed)"
stop "$single"
nats_single good
must "messages arrive" until_true 90 output_is nats phase current
must "a single server has one copy" [ -d "$LAB/single/jetstream" ]
agent_down
must "all of them" until_true 30 output_is nats waiting 0
none_is_missing() {
    [ "$(in_host c curl -sf 'http://127.0.0.1:8221/jsz?streams=1' |
        jq '.account_details[0].stream_detail[0].state.messages')" = "$(readings)" ]
}
must "none is missing" until_true 60 none_is_missing
