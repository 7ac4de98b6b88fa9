# A server that takes no remote write, a wrong password, certificates that are not good: told once each, nothing lost.
site
server_authority
server_certificate expired 0
server_certificate good
served() {
    cat >"$LAB/web.yml" <<YAML
tls_server_config: {cert_file: $LAB/$1.pem, key_file: $LAB/$1.key}
basic_auth_users: {writer: $HASH}
YAML
    prometheus_up "$ANY_ORDER" --web.enable-remote-write-receiver --web.config.file="$LAB/web.yml"
}
# Of `right-word`, by bcrypt.
HASH='$2b$04$rivuletrivuletrivulet.LgVLYRy2BRO/ItraYNHEEmQ8qW3tPzu'
prometheus_up
collector_up "$(write_output)"
agent_up
must "that it takes none is told" until_true 60 says "prom.*--web.enable-remote-write-receiver"
prometheus_down
(umask 077 && echo wrong-word >"$LAB/password")
PROMETHEUS=https://127.0.0.1:9090 PROMETHEUS_LOGIN=writer:right-word
served expired
collector_down
collector_config "$(write_output ", user: writer, password-file: $LAB/password, tls: {ca: $LAB/ca.pem}")"
collector_again
must "an expired certificate is told" until_true 60 says "prom.*certificate has expired"
prometheus_down
served good
must "a wrong password is told" until_true 90 says "prom.*rejects user and password"
(umask 077 && echo right-word >"$LAB/password")
must "the right one is enough" until_true 90 output_is prom phase current
must "each was told once" eval 'says_once "certificate has expired" && says_once "rejects user and password"'
agent_down
must "the server has what the store has" becomes_same 90 as_samples samples
must "no password in logs" eval '! grep -qE "wrong-word|right-word" "$LAB"/collect_c*.err'
