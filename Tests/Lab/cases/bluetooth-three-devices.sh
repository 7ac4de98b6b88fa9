# Three programs with MultipeerConnectivity (Examples/three-devices): Anna has Bluetooth only, Carl a LAN only, and Bert,
# who invites both, stands between them. All three are connected, and one end streams to the other.
# at most 600 s
. Tests/Lab/bluetooth.sh
PROGRAM=$PWD/.build-tests/debug/example-three-devices
[ -x "$PROGRAM" ] || not_run "the examples are not built: deploy/test.sh unit"

# device NAME ARGUMENTS… -- COMMAND…: the program, under that command; it reads what `types` writes. Its pipe is open for
# writing as well, and so never at its end.
device() {
    local name=$1 arguments=()
    shift
    while [ "$1" != -- ]; do
        arguments+=("$1")
        shift
    done
    shift
    mkfifo "$LAB/$name.in"
    mkdir -p "$LAB/home_$name"
    "$@" env "HOME=$LAB/home_$name" RIVULET_NEARBY_AVAHI=off stdbuf -oL "$PROGRAM" "${arguments[@]}" \
        0<>"$LAB/$name.in" >"$LAB/$name.out" 2>"$LAB/$name.err" &
    PIDS+=($!)
}
types() { echo "$2" >"$LAB/$1.in"; }
sees() { must "$1 sees: $2" until_true "${3:-120}" grep -qE "$2" "$LAB/$1.out"; }

host carl
veth lab0 carl 1
emulated 2
device anna Anna -- env RIVULET_NEARBY_INTERFACES=none "RIVULET_NEARBY_BLUETOOTH=${ADDRESSES[0]}"
device carl Carl -- ip netns exec "$NS-carl" env RIVULET_NEARBY_INTERFACES=eth1 RIVULET_NEARBY_BLUETOOTH=off
device bert Bert middle -- env RIVULET_NEARBY_INTERFACES=lab0 "RIVULET_NEARBY_BLUETOOTH=${ADDRESSES[1]}"
sees carl '^Bert: connected$'
sees anna '^Bert: connected$'
sees anna '^Carl: connected$'
sees carl '^Anna: connected$'
must "nobody but Bert found anybody" [ -z "$(cat "$LAB/anna.out" "$LAB/carl.out" | grep '^found')" ]

types anna 'hello from this end'
sees carl '^Anna says: hello from this end$'
types carl 'and from the other'
sees anna '^Carl says: and from the other$'
words=$(seq -s ' ' 1000 1400)
types carl "stream Anna $words"
sees anna "^Carl streamed: $words\$"

types bert quit
sees anna '^Carl: not connected$'
sees carl '^Anna: not connected$'
