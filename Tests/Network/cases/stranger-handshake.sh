# openssl s_client completes a handshake with a running agent, and is then refused admission.
host a b
lan 1 a b
config a agent 'links: {udp: {port: 4577}}'
agent a
must "the agent runs" until_true 30 status a
openssl ecparam -name prime256v1 -genkey -noout -out "$LAB/key.pem" 2>/dev/null
openssl req -x509 -new -key "$LAB/key.pem" -subj /CN=stranger -days 1 -out "$LAB/cert.pem" 2>/dev/null
(sleep 2; echo hello; sleep 1) | in_host b timeout 10 openssl s_client -dtls1_2 \
    -connect 10.77.1.1:4577 -key "$LAB/key.pem" -cert "$LAB/cert.pem" >"$LAB/s_client.out" 2>&1
must "the handshake completed" grep -q "Cipher is ECDHE-ECDSA" "$LAB/s_client.out"
refused() { [ "$(drops a admission-timeout)" -gt 0 ]; }
must "it was refused admission" until_true 30 refused
