# Thermometers on an I²C bus, read by the kernel's hwmon drivers: what they say, a value beyond the part,
# and one that is unplugged for a while, through a running agent into the collector's table.
. Tests/Lab/guest.sh
i2c_bus 0x48,0x49
modprobe -a lm75 tmp102
i2c_word 0x48 0 $((21 * 256 + 128))
# The configuration that it has after power-on; then 1/128 °C.
i2c_word 0x49 1 0x60a0
i2c_word 0x49 0 $((-392 & 0xffff))
i2c_driver lm75 0x48
i2c_driver tmp102 0x49

sensing "  - {driver: hwmon, every: 1s}"
comes_to_read 90 lm75.temp1 '"unit":"Cel","count":1,"nulls":0,"rate":1,"last":21.500'
comes_to_read 90 tmp102.temp1 '"last":-3.062'
i2c_word 0x48 0 $((22 * 256))
comes_to_read 60 lm75.temp1 '"last":22.000'
i2c_word 0x48 0 $((-60 * 256 & 0xffff))
comes_to_read 60 lm75.temp1 '"last":null,"reason":"out-of-range"'
i2c_word 0x48 0 $((23 * 256))
comes_to_read 60 lm75.temp1 '"last":23.000'

i2c_unplug 0x48
comes_to_read 60 lm75.temp1 '"last":null,"reason":"absent"'
must "the other goes on" until_true 60 reads tmp102.temp1 '"last":-3.062'
i2c_driver lm75 0x48
comes_to_read 60 lm75.temp1 '"last":23.000'
