# The database's disk is full: told, waited for; when there is room again, and it was restarted, nothing is missing.
site
mkdir -p "$LAB/full"
mount -t tmpfs -o size=6m tmpfs "$LAB/full"
influx_config
sed -i "s|$LAB/influx/|$LAB/full/|" "$LAB/influx.conf"
influx_up
collector_up "$(influx_output)"
agent_up
must "readings arrive" until_true 60 output_at_least influx delivered 20
dd if=/dev/zero of="$LAB/full/ballast" bs=64k 2>/dev/null
must "it is told" until_true 60 says "influx.*no space left on device"
must "readings go on" more_readings 60
must "told once" says_once "no space left on device"
rm "$LAB/full/ballast"
# InfluxDB 1.6 keeps its first failed write in mind until it is started again.
influx_down KILL
influx_up
must "then they arrive" until_true 120 output_is influx phase current
agent_down
must "the server has what the store has" becomes_same 90 values influx_values
