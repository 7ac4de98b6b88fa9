# Two nodes with nothing but Bluetooth between them do not give each other up, for half a minute, or for
# ALARM_SECONDS: 3600 by hand, as `run.sh alarms` does it over wires.
# at most 4000 s
. Tests/Lab/bluetooth.sh
bluetooth_pair
must "the agent has a collector" until_true 90 connected a
must "the collector shows its link" until_true 60 links c 1

# sees NAME TEXT: the node's state has it.
sees() { grep -qF "$2" <<<"$("$BIN/rivulet" status --json --socket "$LAB/$1.sock")"; }
believes() { ! sees "$1" '"cost":65535'; }

until=$(($(date +%s) + ${ALARM_SECONDS:-30})) looks=0
while [ "$(date +%s)" -lt "$until" ]; do
    for name in c a; do
        must "$name has its neighbour, after $looks looks" sees $name '"cost":'
        must "$name has not given it up, after $looks looks" believes $name
    done
    looks=$((looks + 1))
    sleep 0.2
done
measured "looked $looks times at both"
must "readings, too" more_rows c a 60
