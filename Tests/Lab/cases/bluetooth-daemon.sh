# bluetoothd runs on the same controllers, comes while readings flow, and goes.
# at most 600 s
. Tests/Lab/bluetooth.sh
daemon=$(ls /usr/libexec/bluetooth/bluetoothd /usr/lib/bluetooth/bluetoothd 2>/dev/null | head -1)
[ -n "$daemon" ] && command -v dbus-daemon >/dev/null || not_run "there is no bluetoothd, or no dbus-daemon"
bluetooth_pair
must "readings" until_true 90 has_rows c a
mkdir -p /run/dbus
rm -f /run/dbus/system_bus_socket
start_here bus dbus-daemon --system --nofork --nopidfile
must "the bus is there" until_true 60 [ -e /run/dbus/system_bus_socket ]
start_here bluetoothd "$daemon" -n
sleep 5
must "bluetoothd runs" kill -0 "$bluetoothd"
must "readings while it runs" more_rows c a 90
must "the agent advertises" until_true 60 bluetooth_state a advertising
stop "$bluetoothd"
must "readings after it went" more_rows c a 90
must "the agent advertises" until_true 60 bluetooth_state a advertising
