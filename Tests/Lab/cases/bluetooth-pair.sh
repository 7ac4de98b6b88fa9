# An agent and a collector with nothing but Bluetooth in common find each other, and readings arrive.
. Tests/Lab/bluetooth.sh
emulated 2
only_bluetooth c collector 0
only_bluetooth a agent 1 "$SENSOR"
collect_here c
agent_here a
connecting=$(milliseconds_until 30 connected a) || fail "the agent has a collector"
measured "from the start to a collector found by Bluetooth: $connecting ms"
must "readings" until_true 30 has_rows c a
must "the agent shows its link" links a 1
must "the collector shows its link" links c 1
must "more readings" more_rows c a 20
"$BIN/rivulet" status --socket "$LAB/a.sock"
