# Sourced by the cases: a cluster of three nats-server with JetStream in the collector's namespace, and what it has.
. Tests/Behind/certificates.sh
NATS_SERVER=$(command -v nats-server || echo /usr/sbin/nats-server)

# nats_config NUMBER [LINES]: one of three; user `rivulet`, password `right-word`.
nats_config() {
    cat >"$LAB/nats$1.conf" <<CONF
server_name: n$1
listen: 127.0.0.1:422$1
http: 127.0.0.1:822$1
jetstream { store_dir: "$LAB/nats$1" }
cluster { name: lab, listen: 127.0.0.1:622$1,
    routes: [nats://127.0.0.1:6221, nats://127.0.0.1:6222, nats://127.0.0.1:6223] }
authorization { users: [ {user: rivulet, password: right-word} ] }
${2:-}
CONF
}

# nats_up [NUMBER…]: starts these (all), and waits until they answer.
nats_up() {
    local number
    [ $# -gt 0 ] || set -- 1 2 3
    for number; do
        [ -e "$LAB/nats$number.conf" ] || nats_config "$number"
        start "nats$number" c "$NATS_SERVER" -c "$LAB/nats$number.conf"
    done
    for number; do
        until_true 60 nats_healthy "$number" || fail "nats-server $number does not start"
    done
    (umask 077 && echo right-word >"$LAB/password")
}

# Whether it has caught up with the others.
nats_healthy() { in_host c curl -sf -m 2 "http://127.0.0.1:822$1/healthz" >/dev/null; }

# nats_down NUMBER [SIGNAL]
nats_down() {
    local id=nats$1
    stop "${!id}" "${2:-TERM}"
}

# nats_leader [STREAM]: the number of the server that leads it.
nats_leader() {
    local number
    for number in 1 2 3; do
        in_host c curl -sf -m 2 "http://127.0.0.1:822$number/jsz?streams=1" 2>/dev/null |
            jq -r --arg name "${1:-RIVULET}" \
                '.account_details[]?.stream_detail[]? | select(.name == $name) | .cluster.leader // empty'
    done | head -n 1 | tr -d n
}

# nats_request SUBJECT [BODY]: what JetStream's API answers, JSON.
nats_request() {
    in_host c python3 Tests/Behind/nats/request.py 127.0.0.1 "${NATS_PORT:-4221}" rivulet right-word "$@"
}

# nats_messages [STREAM]: each message: `id TAB subject TAB payload`. A cluster that is just choosing a leader is asked
# again.
nats_messages() {
    local messages
    for _ in 1 2 3 4 5; do
        messages=$(in_host c python3 Tests/Behind/nats/read_stream.py \
            127.0.0.1 "${NATS_PORT:-4221}" rivulet right-word "${1:-RIVULET}") && break
        sleep 1
        messages=
    done
    [ -n "$messages" ] && printf '%s\n' "$messages"
}

# nats_values [STREAM]: every reading as `values` has them; one that is there twice is twice in it.
nats_values() { nats_messages "$@" | cut -f3- | values; }

# nats_count: how many messages there are.
nats_count() { nats_messages 2>/dev/null | wc -l; }
nats_has() { [ "$(nats_count)" -ge "$1" ]; }

# nats_output [KEYS]: the lines of one output to it, called `nats`.
nats_output() {
    echo "- {name: nats, nats: {servers: [127.0.0.1:4221, 127.0.0.1:4222, 127.0.0.1:4223], user: rivulet,
  password-file: $LAB/password, time-limit: 3s${1:-}}}"
}
