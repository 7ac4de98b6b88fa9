# TLS: an expired certificate, one of another authority, one for another name, then the right one.
server_authority
server_authority other
server_certificate expired 0
server_certificate stranger 365 other
server_certificate good
site
served() {
    install -m 600 -o postgres "$LAB/$1.pem" "$LAB/pg/served.pem"
    install -m 600 -o postgres "$LAB/$1.key" "$LAB/pg/served.key"
}
pg_make "ssl = on
ssl_cert_file = '$LAB/pg/served.pem'
ssl_key_file = '$LAB/pg/served.key'"
echo 'hostssl all all 0.0.0.0/0 scram-sha-256' >"$LAB/hba"
sed -i '/^host /d' "$LAB/pg/data/pg_hba.conf"
cat "$LAB/hba" >>"$LAB/pg/data/pg_hba.conf"
served expired
pg_up
pg_database
collector_up "$(pg_output ", tls: {ca: $LAB/ca.pem}")"
agent_up
must "expired is told" until_true 60 says "pg.*certificate verify failed.*its date"
must "readings" more_readings 20
must "once" says_once "certificate verify failed"
served stranger
pg_says "SELECT pg_reload_conf()" postgres >/dev/null
must "a stranger's is not trusted" [ "$(output pg phase)" = failing ]
served good
pg_says "SELECT pg_reload_conf()" postgres >/dev/null
must "readings arrive" until_true 90 output_is pg phase current
must "they came encrypted" test "$(pg_says "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
    WHERE application_name = 'rivulet'")" = t
agent_down
must "the server has what the store has" becomes_same 60 values pg_values
# The certificate is for 127.0.0.1 only.
collector_down
PG_HOST=localhost
collector_up "$(pg_output ", tls: {ca: $LAB/ca.pem}")"
must "a wrong name is told" until_true 60 says "pg.*does not match host name"
