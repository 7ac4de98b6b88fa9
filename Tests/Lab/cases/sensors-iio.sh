# A BMP280 read by the kernel's IIO driver: the example of its data sheet, a frozen one, one beyond its
# range, and one that is unplugged for a while, through a running agent into the collector's table.
. Tests/Lab/guest.sh
i2c_bus 0x76
modprobe bmp280-i2c || not_run "this kernel has no module bmp280-i2c"

# bytes REGISTER BYTE…: sets registers of the BMP280.
bytes() {
    local register=$1 byte
    shift
    for byte; do
        i2cset -f -y "$I2C" 0x76 "$register" "$byte" b
        register=$((register + 1))
    done
}

# words VALUE…: as the calibration has them, low byte first, from 0x88 on.
words() {
    local register=0x88 word
    for word; do
        bytes $register $((word & 0xff)) $((word >> 8 & 0xff))
        register=$((register + 2))
    done
}

# Bosch BST-BMP280-DS001, §3.12: calibration, and raw values that mean 25.08 °C and 100653 Pa.
words 27504 26435 -1000 36477 -10685 3024 2855 140 -7 15500 -14600 6000
bytes 0xd0 0x58
bytes 0xf7 0x65 0x5a 0xc0 0x7e 0xed 0x00
i2c_driver bmp280 0x76
must "the kernel's driver takes it" until_true 60 \
    test -e "/sys/bus/i2c/devices/$I2C-0076/iio:device0/in_temp_input"

sensing "  - {driver: iio, device: bmp280, every: 1s, stale-after: 60s}"
comes_to_read 90 bmp280.temperature '"unit":"Cel","count":1,"nulls":0,"rate":1,"last":25.08'
comes_to_read 60 bmp280.pressure '"unit":"Pa","count":1,"nulls":0,"rate":1,"last":100653.2'
comes_to_read 180 bmp280.pressure '"last":null,"reason":"frozen"'
bytes 0xfa 0x7f 0x50
comes_to_read 60 bmp280.temperature '"last":25.58'
bytes 0xfa 0xb0 0x00
comes_to_read 60 bmp280.temperature '"last":null,"reason":"out-of-range"'
bytes 0xfa 0x7e 0xed

i2c_unplug 0x76
comes_to_read 60 bmp280.temperature '"last":null,"reason":"absent"'
i2c_driver bmp280 0x76
comes_to_read 60 bmp280.temperature '"last":25.08'
