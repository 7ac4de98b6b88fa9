# A user with CAP_NET_ADMIN and CAP_NET_RAW and nothing else is enough; without them one line says so and the
# agent goes on; in another network namespace there is no Bluetooth, and that is said too.
. Tests/Lab/bluetooth.sh
emulated 2
chmod 755 "$LAB"
# as_user NAME CAPABILITIES…: the agent NAME as nobody.
as_user() {
    local name=$1 option
    mkdir -p "$LAB/$name.d"
    sed -i "s#$LAB/$name\$#$LAB/$name.d/state#; s#$LAB/$name.sock#$LAB/$name.d/sock#; s#$LAB/secret#$LAB/$name.d/secret#" \
        "$LAB/$name.yaml"
    cp "$LAB/secret" "$LAB/$name.d/secret"
    chown -R nobody "$LAB/$name.d"
    chmod 644 "$LAB/$name.yaml"
    shift
    start_here "agent_$name" setpriv --reuid=nobody --regid=nogroup --clear-groups \
        --inh-caps="${1:--all}" --ambient-caps="${1:--all}" --bounding-set="${1:--all}" \
        "$BIN/rivulet-agent" --config "$LAB/$name.yaml"
}
only_bluetooth a agent 0
as_user a -all,+net_admin,+net_raw
must "it is used" until_true 60 says agent_a "is used"
only_bluetooth b agent 1
as_user b
must "without the capabilities it says so" until_true 60 says agent_b "not permitted; it needs CAP_NET_ADMIN"
must "and goes on" kill -0 "$agent_b"
host d
config d agent
agent d
must "elsewhere there is none" until_true 60 says agent_d "Bluetooth is not used"
must "and the agent goes on" kill -0 "$agent_d"
