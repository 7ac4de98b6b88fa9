# The emulated hardware answers as real hardware does: a GPIO edge, an I²C thermometer, 1-Wire with
# its faults.
. Tests/Lab/guest.sh
gpio_chip 8

watch_edge 2
must "somebody watches the line" until_true 90 watched 2
pull 2 up
must "an edge is seen" until_true 90 test -s "$LAB/watch.out"

i2c_bus 0x48
modprobe lm75
i2c_word 0x48 0 $((21 * 256 + 128))
i2c_driver lm75 0x48
must "21.5 °C over I²C" grep -qx 21500 "/sys/bus/i2c/devices/$I2C-0048"/hwmon/hwmon*/temp1_input

thermometers 21500,-3062
cd /sys/bus/w1/devices/28-0001a0115e01 || fail "no thermometer"
must "21.5 °C over 1-Wire" [ "$(cat temperature)" = 21500 ]
must "below zero" [ "$(cat ../28-0001a0115e02/temperature)" = -3062 ]
echo 0 >/sys/module/w1_sim/parameters/absent
must "nothing from one that was pulled off" [ -z "$(timeout 30 cat temperature)" ]
echo -1 >/sys/module/w1_sim/parameters/absent
must "it is back" [ "$(cat temperature)" = 21500 ]
