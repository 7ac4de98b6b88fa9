# An agent and a collector with nothing but Bluetooth in common find each other, and readings arrive.
. Tests/Lab/bluetooth.sh
bluetooth_pair
connecting=$(milliseconds_until 90 connected a) || fail "the agent has a collector"
measured "from the start to a collector found by Bluetooth: $connecting ms"
must "readings" until_true 90 has_rows c a
must "the agent shows its link" until_true 60 links a 1
must "the collector shows its link" until_true 60 links c 1
must "more readings" more_rows c a 60
"$BIN/rivulet" status --socket "$LAB/a.sock"
