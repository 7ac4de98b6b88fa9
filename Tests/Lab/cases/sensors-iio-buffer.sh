# An INA226 read through the buffer of the kernel's IIO driver, which takes scans by a thread of its own:
# voltages by the channel's scale, with the kernel's time; and unplugged for a while.
. Tests/Lab/guest.sh
i2c_bus 0x40
modprobe ina2xx-adc || not_run "this kernel has no module ina2xx-adc"

# TI SBOS547A, table 4: manufacturer and die; bus voltage 1.25 mV a bit, shunt voltage 2.5 µV a bit; in
# register 6 the flag that a conversion is ready.
i2c_word 0x40 0xfe 0x5449
i2c_word 0x40 0xff 0x2260
i2c_word 0x40 1 400
i2c_word 0x40 2 4000
i2c_word 0x40 3 10
i2c_word 0x40 4 20
i2c_word 0x40 6 8
i2c_driver ina226 0x40
INA=/sys/bus/i2c/devices/$I2C-0040/iio:device0
must "the kernel's driver takes it" until_true 60 test -e "$INA/buffer/length"
# A mean of 16 conversions of two channels: 28 scans a second, which an emulated processor can do.
echo 16 >"$INA/in_oversampling_ratio"

sensing "  - {driver: iio, device: ina226, buffer: true, every: 1s}"
comes_to_read 90 ina226.voltage1 '"last":5.00000,'
comes_to_read 60 ina226.voltage0 '"unit":"V"'
comes_to_read 60 ina226.voltage0 '"last":0.0010000,'
i2c_word 0x40 2 2640
comes_to_read 60 ina226.voltage1 '"last":3.30'

# scans_a_second: the most readings of a channel in a window.
scans_a_second() {
    grep '"channel":"ina226.voltage1"' "$LAB/collect_c.out" |
        sed 's/.*"count":\([0-9]*\).*/\1/' | sort -n | tail -n 1
}
must "more scans than polls" until_true 60 eval '[ "$(scans_a_second)" -gt 5 ]'
measured "scans a second: $(scans_a_second)"

i2c_unplug 0x40
comes_to_read 60 ina226.voltage1 '"last":null,"reason":"absent"'
i2c_driver ina226 0x40
comes_to_read 60 ina226.voltage1 '"last":3.30'
# shellcheck disable=SC2154
stop "$agent_a"
must "the buffer is off again" [ "$(cat "$INA/buffer/enable")" = 0 ]
