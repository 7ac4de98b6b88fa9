# Sender and receiver share no network: an agent of theirs between them relays. By name, and after its link is gone
# for a while.
. Tests/Network/files.sh
host a r b
lan 1 a r
lan 2 r b
slow a 1 25
config a agent
config r relay
config b agent
agent r
must "the relay runs" until_true 30 at_least r uptimeSeconds 0
mkdir -p "$LAB/in_b"
start receive_b b env HOME="$LAB/home_b" "$BIN/rivulet" receive --config "$LAB/b.yaml" --into "$LAB/in_b"
must "it receives" until_true 30 grep -q "^receiving as b" "$LAB/receive_b.err"
file data.bin 20
SERVICE=(--config "$LAB/a.yaml")
sending a relayed "$LAB/data.bin" --to b
must "under way" under_way b 3000000
ip -n "$NS-r" link set eth2 down
sleep 3
ip -n "$NS-r" link set eth2 up
must "sent over the relay" ends relayed 0 'data.bin sent to b'
must "byte for byte" arrived data.bin "$LAB/in_b/data.bin"
must "nothing is left" whole b 1
