# Ann and Bob find each other through a folder alone: nothing is multicast, and both are connected.
host ann bob
lan 1 ann bob
mkdir "$LAB/shared"
start capture bob tcpdump -i eth1 -n -U --immediate-mode 'udp and multicast'
must "the capture runs" until_true 30 grep -q 'listening on' "$LAB/capture.err" 2>/dev/null
meet() { terminal "$1" "$1" "$BIN/example-custom-discovery" "$2" "$LAB/shared"; }

meet ann Ann
sees ann "^I am Ann\. My peer ID is in the folder; waiting for the other's\.$"
must "nobody is there yet" [ "$(ls "$LAB/shared")" = Ann.peer ]
meet bob Bob
sees ann '^the other one is Bob$'
sees bob '^the other one is Ann$'
sees ann '^Bob is connected$'
sees bob '^Ann is connected$'
must "what they left there" [ "$(ls "$LAB/shared" | paste -sd' ')" = \
    "Ann-for-Bob.connection Ann.peer Bob-for-Ann.connection Bob.peer" ]
types ann 'found you'
sees bob '^Ann says: found you$'
types bob 'and I you'
sees ann '^Bob says: and I you$'
must "nothing was multicast" [ ! -s "$LAB/capture.out" ]
types ann quit
sees bob '^Ann is not connected$'
must "Ann's program ends" until_true 30 has_ended ann
