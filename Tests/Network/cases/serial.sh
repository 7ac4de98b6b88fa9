# Serial sensors: dust and position on the collector's table, through noise, and after the device was unplugged and
# plugged in again. The devices are pseudoterminals that play captured frames.
host c a
lan 1 c a
gcc -o "$LAB/serial_device" Tests/Network/serial_device.c || fail "no compiler"
# A PMS5003's frame, captured (Tests/SensorsTests/Vectors/pms5003.hex): 13 µg/m³ under 2.5 µm.
frame='\x42\x4d\x00\x1c\x00\x05\x00\x0d\x00\x16\x00\x05\x00\x0d\x00\x16\x02\xfd\x00\xfc\x00\x1d\x00\x0f\x00\x06\x00\x06\x97\x00\x03\xc5'
printf '%b' "$frame" >"$LAB/frames"
printf '$GNGGA,092725.00,4717.11399,N,00833.91590,E,1,08,1.01,499.6,M,48.0,M,,*45\r\n' >"$LAB/sentences"
printf 'T=21.5 H=40\r\n' >"$LAB/lines"
plug_in() { start "device_$1" a "$LAB/serial_device" "$LAB/tty_$1" "$LAB/$1" 100; }
plug_in frames
plug_in sentences
plug_in lines
config c collector
config a agent "sensors:
  - {driver: serial, device: $LAB/tty_frames, protocol: pms5003, every: 500ms, name: hall}
  - {driver: serial, device: $LAB/tty_sentences, protocol: nmea, every: 500ms}
  - driver: serial
    device: $LAB/tty_lines
    protocol: line
    pattern: 'T=([-0-9.]+) H=([0-9.]+)'
    groups: [temperature Cel, humidity %RH]
    every: 500ms
report: {wait: 0s}"
must "the configuration is good" "$BIN/rivulet" check "$LAB/a.yaml"
collect c
agent a

# last CHANNEL VALUE [UNIT]: a row of the collector ends with this value.
last() { grep "\"channel\":\"$1\"" "$LAB/collect_c.out" | grep -q "\"last\":$2[,}]"; }
must "dust" until_true 30 last hall.pm2.5 13
must "position" until_true 30 last lat 47.2852332
must "east" until_true 30 last lon 8.5652650
must "height" until_true 30 last altitude 499.6
must "a line's groups" until_true 30 last temperature 21.5
must "and the second" until_true 30 last humidity 40

# says TEXT: the agent's status does.
says() { [[ $(status a) == *"$1"* ]]; }

# Noise, half a frame and one with a flipped bit before each good one of another value.
second='\x42\x4d\x00\x1c\x00\x05\x00\x0d\x00\x16\x00\x05\x00\x0e\x00\x16\x02\xfd\x00\xfc\x00\x1d\x00\x0f\x00\x06\x00\x06\x97\x00\x03\xc6'
printf '%b' "\x42\x42\x4d\x00${frame:0:60}${frame/x02/x03}\xff\x00${second}" >"$LAB/noise"
mv "$LAB/noise" "$LAB/frames"
must "dust through noise" until_true 30 last hall.pm2.5 14
must "the noise is counted" until_true 30 says "with a wrong checksum"

stop "$device_frames"
must "who is unplugged is told of" until_true 30 says "tty_frames is not there"
# null CHANNEL: readings without a value, for reason 2, absent.
null() {
    [ "$(sql c "SELECT count(*) > 0 FROM readings JOIN channels USING (run_id)
        WHERE number = channel AND name = '$1' AND reason = 2")" = 1 ]
}
must "and null" until_true 30 null hall.pm2.5
must "the others go on" more_rows c a 30
plug_in frames
must "who returns is opened again" until_true 30 says "opened 2 times"
