# rfkill takes the agent's controller away and gives it back; the agent says which it is.
# at most 600 s
. Tests/Lab/bluetooth.sh
bluetooth_pair
must "readings" until_true 90 has_rows c a
switch=$(echo /sys/class/bluetooth/hci1/rfkill*/soft)
[ -e "$switch" ] || not_run "this kernel has no rfkill for Bluetooth"
echo 1 >"$switch"
must "the agent says so" until_true 60 bluetooth_state a "blocked by rfkill"
must "its log says how to free it" until_true 60 says agent_a "rfkill unblock bluetooth"
echo 0 >"$switch"
must "it advertises again" until_true 60 bluetooth_state a advertising
must "readings again" more_rows c a 90
