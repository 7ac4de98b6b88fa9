# TLS: the broker's certificate is checked, also its name and dates; we can show one of our own.
BROKER_PORT=8883
SUBSCRIBE="--cafile $LAB/ca.pem -p 8883 -h 127.0.0.1"
site
server_authority
server_certificate good
server_certificate expired 0
server_certificate client
chmod 600 "$LAB/client.key"
listener() {
    echo "listener 8883
allow_anonymous true
cafile $LAB/ca.pem
certfile $LAB/$1.pem
keyfile $LAB/$1.key
${2:-}"
}
# tls_output HOST [MORE]
tls_output() { echo "- {name: home, mqtt: {host: $1, tls: {ca: $LAB/ca.pem${2:-}}}}"; }

broker_up "$(listener expired)"
collector_up "$(tls_output 127.0.0.1)"
agent_up
must "an expired certificate is refused" until_true 60 says "home.*certificate has expired; check the broker's certificate"
must "readings" more_readings 60
must "it is said once" says_once "certificate has expired"
stop "$broker"
broker_up "$(listener good)"
must "the right one is taken" until_true 90 output_is home phase current
collector_config "$(tls_output localhost)"
reload
must "one for another name is refused" until_true 60 says "home.*the certificate is for another name"
collector_config "$(tls_output 127.0.0.1)"
reload
must "the right name is taken" until_true 60 output_is home phase current
stop "$broker"
broker_up "$(listener good "require_certificate true")"
must "without a certificate of ours it is refused" until_true 60 output_is home phase failing
collector_config "$(tls_output 127.0.0.1 ", certificate: $LAB/client.pem, key: $LAB/client.key")"
reload
must "with it we get in" until_true 90 output_is home phase current
SUBSCRIBE="$SUBSCRIBE --cert $LAB/client.pem --key $LAB/client.key"
agent_down
must "nothing is lost" until_true 60 is_newest count
