# A RuuviTag's advertisements from a second controller reach the collector's table over the mesh,
# while that goes over Bluetooth on the agent's same controller; when the tag falls silent its
# channels are null.
# at most 600 s
. Tests/Lab/bluetooth.sh
emulated 3
only_bluetooth c collector 0
only_bluetooth a agent 1 "sensors:
  - {driver: ble, address: \"${ADDRESSES[2]}\", name: fern, every: 1s, silent-after: 10s}
  - {driver: ble, every: 1s}
report: {wait: 0s}"
collect_here c
agent_here a
must "the agent finds its collector over Bluetooth" until_true 90 connected a

# shows CHANNEL WHAT: a row of the collector's has this.
shows() { grep -F "\"channel\":\"$1\"" "$LAB/collect_c.out" | grep -q "$2"; }
must "a sensor that was never heard is null" until_true 90 shows fern.signal '"reason":"warming-up"'

# Data format 5 of docs.ruuvi.com, case valid data; connectable, so that it has its public address.
tag=1bff99040512fc5394c37c0004fffc040cac364200cdcbb8334c884f
mgmt --index 2 power on >>"$LAB/mgmt.out"
started=$(date +%s%N)
mgmt --index 2 add-adv -c -d $tag 1 >>"$LAB/mgmt.out"
must "its temperature is in the table" until_true 90 shows fern.temperature '"last":24.300'
measured "from the tag's first advertisement to the collector's table: $((($(date +%s%N) - started) / 1000000)) ms"
must "and its pressure" until_true 60 shows fern.pressure '"last":100044'
# How strong it is heard the emulator does not tell.
must "and its signal" until_true 60 shows fern.signal '"reason":"absent"'
must "nobody else takes what is named" [ "$(grep -c "${ADDRESSES[2]}" "$LAB/collect_c.out")" = 0 ]

# The next measurement: 24.305 °C, and one more in the sequence.
mgmt --index 2 add-adv -c -d "${tag/0512fc5394c37c0004fffc040cac364200cd/0512fd5394c37c0004fffc040cac364200ce}" 1 \
    >>"$LAB/mgmt.out"
must "the next temperature follows" until_true 90 shows fern.temperature '"last":24.305'
must "the link is still there" until_true 60 links a 1

mgmt --index 2 rm-adv 1 >>"$LAB/mgmt.out"
must "silent, it is null" until_true 90 shows fern.temperature '"reason":"expired"'
status a | tr ',' '\n' | grep -A 2 sensors
