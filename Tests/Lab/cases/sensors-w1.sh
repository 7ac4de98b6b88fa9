# Thermometers on a 1-Wire bus: wrong checksums, one that is pulled off and put back, and the 85 °C of the
# power-on state, each on a channel of its own, through a running agent into the collector's table.
. Tests/Lab/guest.sh
thermometers 21500,-3062,85000
parameters=/sys/module/w1_sim/parameters
first=w1.28-0001a0115e01 second=w1.28-0001a0115e02 third=w1.28-0001a0115e03
must "all are found" until_true 90 test -e "/sys/bus/w1/devices/${third#w1.}"

sensing "  - {driver: w1, every: 3s}"
comes_to_read 90 $first '"unit":"Cel","count":1,"nulls":0,"rate":1,"last":21.500'
comes_to_read 60 $second '"last":-3.062'
comes_to_read 60 $third '"last":null,"reason":"warming-up"'

# The kernel tries five times; errors that another thermometer got are made again.
disturbed() {
    [ "$(cat $parameters/crc_errors)" != 0 ] || echo 5 >$parameters/crc_errors
    reads $first '"last":null,"reason":"checksum"'
}
must "wrong checksums are told" until_true 90 disturbed
echo 0 >$parameters/crc_errors
must "the others go on" reads $second '"last":-3.062'
comes_to_read 60 $first '"last":21.500'

echo 1 >$parameters/absent
comes_to_read 60 $second '"last":null,"reason":"absent"'
must "the others go on" reads $first '"last":21.500'
must "the kernel gives it up in the end" until_true 90 \
    test ! -e "/sys/bus/w1/devices/${second#w1.}"
sleep 5
must "it is null all the same" reads $second '"last":null,"reason":"absent"'
echo -1 >$parameters/absent
comes_to_read 90 $second '"last":-3.062'

echo 21500,-3062,84500 >$parameters/temps
comes_to_read 60 $third '"last":84.500'
echo 21500,-3062,85000 >$parameters/temps
# Without the zeros: the channel began with a null, which has no decimal places.
comes_to_read 60 $third '"last":85'
"$BIN/rivulet" status --socket "$LAB/a.sock"
