# An ADS1115 and a PCF8574 on an emulated bus, which does SMBus commands only, as volts and pins on the collector's
# table; devices that are not there or belong to a driver of the kernel are null, and said so.
. Tests/Lab/guest.sh
i2c_bus 0x20,0x48,0x4a
modprobe lm75
i2c_driver lm75 0x4a
# Half of the scale of ±4.096 V. A start of a conversion is kept, so it looks done at once.
i2c_word 0x48 0 0x4000
# The emulated device gives one register after another where a real one has only its pins.
# shellcheck disable=SC2046
for register in 0 32 64 96 128 160 192 224; do
    i2cset -y "$I2C" 0x20 "$register" $(printf '0xa5 %.0s' {1..32}) i
done
host c a
lan 1 c a
config c collector
config a agent "sensors:
  - {driver: i2c, device: ads1115, bus: $I2C, inputs: [ain0, ain0-ain1], every: 1s}
  - {driver: i2c, device: pcf8574, bus: $I2C, every: 1s, name: door}
  - {driver: i2c, device: ads1115, bus: $I2C, address: 0x4a, every: 1s, name: taken}
  - {driver: i2c, device: scd4x, bus: $I2C, every: 1s, name: gone}
  - {driver: i2c, device: vl53l0x, bus: 99, every: 1s, name: busless}
report: {wait: 0s}"
must "the configuration is good" "$BIN/rivulet" check "$LAB/a.yaml"
collect c
agent a

# last CHANNEL VALUE: a row of the collector ends with this value.
last() { grep "\"channel\":\"$1\"" "$LAB/collect_c.out" | grep -q "\"last\":$2[,}]"; }
must "volts" until_true 90 last ain0 2.048000
must "volts between two inputs" until_true 90 last ain0-ain1 2.048000
must "a pin that is high" until_true 90 last door.p0 1
must "a pin that is low" until_true 90 last door.p1 0
i2c_word 0x48 0 0xfff0
must "other volts" until_true 90 last ain0 -0.002000
i2c_word 0x48 0 0x7fff
# null CHANNEL REASON: readings without a value.
null() {
    [ "$(sql c "SELECT count(*) > 0 FROM readings JOIN channels USING (run_id)
        WHERE number = channel AND name = '$1' AND reason = $2")" = 1 ]
}
must "what is clipped has no value" until_true 90 null ain0 6
must "who belongs to the kernel is denied" until_true 90 null taken.ain0 9
must "who is not there is absent" until_true 90 null gone.co2 2
says() { [[ $(status a) == *"$1"* ]]; }
must "the driver is named" until_true 90 says "belongs to the kernel's driver lm75"
must "where to look" until_true 90 says "nothing answers at 0x62"
must "how to switch a bus on" until_true 90 says "dtparam=i2c_arm=on"
