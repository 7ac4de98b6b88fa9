# A mosquitto of the case's own, in the collector's namespace, with a folder that outlasts it; and what it has.
. Tests/Behind/certificates.sh

# broker_up [LINES]: port 1883 for anybody, unless LINES of its configuration say otherwise.
broker_up() {
    mkdir -p "$LAB/broker"
    cat >"$LAB/broker.conf" <<CONF
user root
persistence true
persistence_location $LAB/broker/
autosave_interval 1
autosave_on_changes true
max_queued_messages 100000
${1:-listener 1883
allow_anonymous true}
CONF
    broker_again
}

broker_again() {
    start broker c mosquitto -v -c "$LAB/broker.conf"
    until_true 30 in_host c bash -c '>/dev/tcp/127.0.0.1/'"${BROKER_PORT:-1883}" || fail "the broker does not start"
}

# SUBSCRIBE: how clients of the case get in.
SUBSCRIBE=${SUBSCRIBE:-}

# retained TOPIC: what the broker keeps there.
retained() { in_host c mosquitto_sub $SUBSCRIBE -C 1 -W 5 --retained-only -t "$1" 2>/dev/null; }

# retained_topics FILTER: the topics under which it keeps something, sorted.
retained_topics() {
    in_host c mosquitto_sub $SUBSCRIBE -W 3 --retained-only -F %t -t "$1" 2>/dev/null | LC_ALL=C sort
}

retained_is() { [ "$(retained "$1")" = "$2" ]; }

# retained_has TOPIC FILTER: whether the object there makes jq's filter true.
retained_has() { retained "$1" | jq -e "$2" >/dev/null 2>&1; }

# watch FILE [OPTIONS]: a subscriber that writes what comes and survives the broker: its session does too.
watch() {
    local file=$1
    shift
    start "watch_$(basename "$file" | tr -c 'a-z\n' _)" c \
        bash -c 'exec mosquitto_sub "$@" >>"$0"' "$file" -c -q 1 -i "watch-$(basename "$file")" "$@"
    subscribed "watch-$(basename "$file")"
}

# subscribed CLIENT: waits until the broker says so in its log.
subscribed() { until_true 30 grep -qs "Sending SUBACK to $1\$" "$LAB/broker.err" || fail "$1 does not subscribe"; }

# published FILE: the keys of the readings that a subscriber saw, each once.
published() { grep -h '"sequence"' "$1" | keys | uniq; }

# own_topic: what stands before nodes.
own_topic() { echo "rivulet/${NETWORK:-lab}"; }

# collector_topic: where the collector says that it is there.
collector_topic() { echo "$(own_topic)/\$collector/$(sed -n 's/.* c is \([a-z2-7-]*\), port.*/\1/p' "$LAB/collect_c.err" | tail -n 1)"; }

# newest CHANNEL: the store's newest value of a channel.
newest() { stored | jq -r --arg c "$1" 'select(.channel == $c) | .value' | tail -n 1; }

# is_newest CHANNEL: whether the broker keeps it; after the agent has stopped.
is_newest() {
    local value
    value=$(newest "$1")
    [ -n "$value" ] && [ "$(retained "$(own_topic)/a/$1" | jq -r .value)" = "$value" ]
}

# Sparkplug B, read and written by protoc.
PROTO=${SPARKPLUG_PROTO:-Tests/Behind/mqtt/sparkplug.proto}

# host_application FILE: writes what comes, a line a message: topic, tab, payload in hexadecimal.
host_application() {
    start host_application c bash -c 'exec mosquitto_sub -i host-application -q 1 -F "%t	%x" -t "spBv1.0/#" >>"$0"' "$1"
    subscribed host-application
}

# decoded FILE: a line a message: topic, tab, the payload as text.
decoded() {
    local topic payload
    while IFS=$'\t' read -r topic payload; do
        printf '%s\t' "$topic"
        xxd -r -p <<<"$payload" |
            protoc --proto_path="$(dirname "$PROTO")" --decode=org.eclipse.tahu.protobuf.Payload "$PROTO" |
            tr -s ' \n' ' '
        echo
    done < <(grep -v '/STATE/' "$1")
}

# messages FILE TYPE: the decoded ones of a type.
messages() { decoded "$1" | grep -P "^spBv1.0/[^/]*/$2/"; }

# count_messages FILE TYPE: how many lines of that type.
count_messages() { grep -cP "^spBv1.0/[^/]*/$2/" "$1"; }

has_messages() { [ "$(count_messages "$1" "$2")" -ge "$3" ]; }

# command_edge TOPIC TEXT: publishes a payload that is written as text.
command_edge() {
    protoc --proto_path="$(dirname "$PROTO")" --encode=org.eclipse.tahu.protobuf.Payload "$PROTO" <<<"$2" |
        in_host c mosquitto_pub -q 1 -t "$1" -s
}
