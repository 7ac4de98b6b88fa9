# Lines toggled from outside arrive as edges and counts; a count outlasts a restart; who holds a busy line and
# which lines there are is told; a chip that was pulled and is back is used again.
# at most 600 s
. Tests/Lab/guest.sh
gpio_chip 8 0=GPIO17 1=GPIO27 2=GPIO22 3=GPIO23 4=GPIO24

# Its number is another when it comes back.
LABEL=$(gpiodetect | sed -n "s/^$GPIO_CHIP \[\(.*\)\].*/\1/p")

# row NAME CHANNEL TEXT: the collector printed a row of the channel with this in it.
row() { grep -qF "$3" <(grep "\"channel\":\"$2\"" "$LAB/collect_$1.out"); }

# last_row NAME CHANNEL TEXT: the newest with readings has it.
last_row() {
    [[ $(grep "\"channel\":\"$2\"" "$LAB/collect_$1.out" | grep -v '"count":0,"nulls":0' | tail -n 1) == *"$3"* ]]
}

# count_of NAME CHANNEL: all values that arrived, over all closed windows.
count_of() {
    echo $(($(grep "\"channel\":\"$2\"" "$LAB/collect_$1.out" | grep '"closed":true' |
        sed 's/.*"count":\([0-9]*\).*/\1/' | paste -sd +)))
}

remark() { [[ $(status a) == *"$1"* ]]; }

pulse() {
    pull "$1" up
    sleep 0.2
    pull "$1" down
    sleep 0.2
}

watch_edge 2
must "gpiomon holds a line" until_true 90 watched 2

host c a
lan 1 c a
config c collector
config a agent "sensors:
  - {driver: gpio, pin: GPIO17, name: door, edges: both, debounce: 1s, every: 1h}
  - {driver: gpio, pin: GPIO27, name: rain, count: rising, scale: 0.2794, unit: mm, every: 1s}
  - {driver: gpio, pin: GPIO23, name: bell, edges: falling, active: low, every: 1h}
  - {driver: gpio, chip: $LABEL, line: 4, name: gate, every: 1s}
  - {driver: gpio, pin: GPIO22, name: taken, every: 1s}
  - {driver: gpio, pin: GPIO99, name: nowhere, every: 1s}
report: {wait: 0s}"
collect c
agent a
must "the agent has a collector" until_true 90 connected a

must "the level of the door, once a period" until_true 90 row c door '"last":0'
# closed NAME NUMBER: so many of its values are in windows that are closed.
closed() { [ "$(count_of c "$1")" -ge "$2" ]; }
# Unless it came too late for its window.
until_true 20 closed door 1
before=$(count_of c door)
for _ in 1 2 3 4 5 6 7; do
    pull 0 up
    pull 0 down
done
pull 0 up
must "the door opened" until_true 90 last_row c door '"last":1'
pull 0 down
must "the door closed" until_true 90 last_row c door '"last":0'
until_true 60 closed door $((before + 2))
sleep 3
told=$(($(count_of c door) - before))
must "one edge for each move, whatever bounced: $told" [ "$told" = 2 ]

must "low is a 1" until_true 90 row c bell '"last":1'
pull 3 up
must "an edge without debouncing" until_true 90 last_row c bell '"last":0'
must "by chip and number" until_true 90 last_row c gate '"last":0'
pull 4 up
must "its level" until_true 90 last_row c gate '"last":1'

must "nothing has rained" until_true 90 last_row c rain '"last":0.0000'
for _ in 1 2 3; do pulse 1; done
must "three pulses" until_true 90 last_row c rain '"last":0.8382'
must "the rate is in mm/h" until_true 90 row c rain.rate '"unit":"mm/h"'
must "the rate is a number" until_true 90 row c rain.rate '"count":1,"nulls":0'

must "who holds the busy line" until_true 90 remark 'GPIO22 ('"$GPIO_CHIP"' line 2) is held by gpiomon'
must "its readings say so" until_true 60 row c taken '"reason":"busy"'
must "which lines there are" until_true 60 remark 'no line is called GPIO99; there are: GPIO17, GPIO27, GPIO22, GPIO23, GPIO24'
must "its readings say so" until_true 60 row c nowhere '"reason":"absent"'
stop "$watch"
must "the line is taken once it is free" until_true 90 last_row c taken '"last":0'

# shellcheck disable=SC2154
kill -HUP "$agent_a"
must "the sensors are reloaded" until_true 60 grep -q 'sensors reloaded' "$LAB/agent_a.err"
sleep 3
pulse 1
must "the count goes on after a reload" until_true 90 last_row c rain '"last":1.1176'
must "what the count's file says is not newer" [ "$(cat "$LAB/a/counters/rain")" -le 4 ]
stop "$agent_a"
must "the count is on disk" [ "$(cat "$LAB/a/counters/rain")" = 4 ]
agent a
must "the agent is back" until_true 90 connected a
pulse 1
must "the count goes on after a restart" until_true 90 last_row c rain '"last":1.3970'

unplug_gpio
must "the chip is gone" until_true 90 last_row c gate '"reason":"absent"'
plug_gpio
must "it is used again" until_true 90 last_row c gate '"last":0'
must "and its other lines" until_true 90 last_row c rain '"last":1.3970'
pulse 1
must "its pulses count on" until_true 90 last_row c rain '"last":1.6764'
