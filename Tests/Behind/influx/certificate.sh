# TLS: an expired certificate, one of another authority, then the right one.
site
server_authority
server_authority other
server_certificate expired 0
server_certificate stranger 365 other
server_certificate good
INFLUX=https://127.0.0.1:8086
served() {
    cp "$LAB/$1.pem" "$LAB/served.pem"
    cp "$LAB/$1.key" "$LAB/served.key"
}
influx_config "  https-enabled = true
  https-certificate = \"$LAB/served.pem\"
  https-private-key = \"$LAB/served.key\""
served expired
influx_up
collector_up "$(influx_output ", tls: {ca: $LAB/ca.pem}")"
agent_up
must "expired is told" until_true 60 says "influx.*certificate has expired.*renewed"
must "readings" more_readings 20
influx_down
served stranger
influx_up
must "a stranger's is told" until_true 60 says "influx.*(unable to get local issuer|self.signed)"
influx_down
served good
influx_up
must "readings arrive" until_true 90 output_is influx phase current
agent_down
must "the server has what the store has" becomes_same 60 values influx_values
must "expired was told once" says_once "certificate has expired"
