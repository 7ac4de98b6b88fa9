# Three programs with MultipeerConnectivity (Examples/three-devices): Anna has Bluetooth only, Carl a LAN only, and Bert,
# who invites both, stands between them. All three are connected, and one end streams to the other.
# at most 600 s
. Tests/Lab/bluetooth.sh
[ -x "$TOP/.build-tests/debug/example-three-devices" ] || not_run "the examples are not built: deploy/test.sh build unit"
host carl
veth lab0 carl 1
emulated 2

# device NAME COMMAND…: the program, which reads what is typed from a pipe.
device() {
    local name=$1
    shift
    mkfifo "$LAB/$name.in"
    # Held open, so that nothing ends before the case does.
    start_here "hold_$name" sleep 600 3<>"$LAB/$name.in"
    start_here "$name" "$@" "HOME=$LAB/home_$name" "RIVULET_NEARBY_AVAHI=off" \
        "$TOP/.build-tests/debug/example-three-devices" "${name^}" ${MIDDLE:-} <"$LAB/$name.in"
}
types() { echo "$2" >"$LAB/$1.in"; }
sees() { must "$1 sees: $2" until_true "${3:-150}" grep -qE "$2" "$LAB/$1.out"; }

device anna env RIVULET_NEARBY_INTERFACES=none "RIVULET_NEARBY_BLUETOOTH=${ADDRESSES[0]}"
device carl ip netns exec "$NS-carl" env RIVULET_NEARBY_INTERFACES=eth1 RIVULET_NEARBY_BLUETOOTH=off
MIDDLE=middle device bert env RIVULET_NEARBY_INTERFACES=lab0 "RIVULET_NEARBY_BLUETOOTH=${ADDRESSES[1]}"
sees bert '^Anna: connected$'
sees bert '^Carl: connected$'
sees anna '^Carl: connected$'
sees carl '^Anna: connected$'
types anna 'hello from this end'
sees carl '^Anna says: hello from this end$'
types carl 'and from the other'
sees anna '^Carl says: and from the other$'
words=$(seq -s ' ' 1000 1400)
types carl "stream Anna $words"
sees anna "^Carl streamed: $words\$"
types bert quit
sees anna '^Carl: not connected$' 90
sees carl '^Anna: not connected$' 90
