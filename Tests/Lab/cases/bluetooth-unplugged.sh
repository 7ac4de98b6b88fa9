# The controllers are unplugged while readings flow, and plugged in again.
# at most 600 s
. Tests/Lab/bluetooth.sh
bluetooth_pair
must "readings" until_true 90 has_rows c a
stop "$btvirt" KILL
must "the agent has no adapter" until_true 60 bluetooth_state a "no adapter"
must "the collector has none either" until_true 60 bluetooth_state c "no adapter"
start_here btvirt2 "${LAB_CACHE:-.build-lab}/btvirt" -l2
must "they are back" until_true 60 [ -e /sys/class/bluetooth/hci1 ]
back=$(milliseconds_until 90 links a 1) || fail "the link is back"
measured "from the plug to a link: $back ms"
must "readings again" more_rows c a 90
must "the agent's process went on" kill -0 "$agent_a"
