# Sourced by cases that run in the virtual machine, on top of Tests/Network/lab.sh and case.sh:
# emulated Bluetooth controllers and Wi-Fi radios. The machine's hardware is what the case asks for,
# nothing else.

# not_run REASON: this case cannot be run here.
not_run() {
    echo "$*"
    exit 77
}

# until_true SECONDS COMMAND…: as in lab.sh, but it asks less often: asking is what a slow processor
# does then.
until_true() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < deadline)) || return 1
        sleep 0.3
    done
}

[ -n "${LAB_GUEST:-}" ] || not_run "only in the virtual machine: Tests/Lab/run.sh"

# at_failure: what else tells why: each node's links, and the kernel's last words.
at_failure() {
    local socket
    for socket in "$LAB"/*.sock; do
        [ -S "$socket" ] || continue
        echo "-- $(basename "$socket" .sock)"
        timeout 5 "$BIN/rivulet" status --socket "$socket" 2>&1 |
            grep -E '^(bluetooth|neighbour|drop|error)'
    done
    echo "-- kernel"
    dmesg | tail -n 12
}

# start_here VARIABLE COMMAND…: as `start`, but in the first network namespace, where Bluetooth is.
start_here() {
    local variable=$1
    shift
    "$@" >"$LAB/$variable.out" 2>"$LAB/$variable.err" &
    printf -v "$variable" %s $!
    PIDS+=($!)
}

# A sensor for a slow processor: it starts no program.
SENSOR='sensors:
  - {driver: system, every: 1s}
report: {wait: 0s}'

# mgmt COMMAND…: btmgmt does nothing when its standard input is at an end, so it gets one that has
# none.
mgmt() {
    [ -p "$LAB/silence" ] || mkfifo "$LAB/silence"
    timeout "${MGMT_SECONDS:-30}" btmgmt "$@" 0<>"$LAB/silence"
}

# controllers NUMBER: so many emulated Bluetooth controllers, LE and BR/EDR, powered, which hear
# each other; hci0 and so on in the order of ADDRESSES. Bluetooth's sockets exist in the first
# network namespace alone: processes share it and bind to different controllers, by address.
ADDRESSES=()
controllers() {
    local index setting
    modprobe hci_vhci || not_run "this kernel has no module hci_vhci"
    emulator "$1"
    for ((index = 0; index < $1; index++)); do
        for setting in "le on" "bredr on" "connectable on" "power on"; do
            # shellcheck disable=SC2086
            mgmt --index $index $setting >>"$LAB/mgmt.out"
        done
        ADDRESSES[index]=$(address_of "$index")
        must "hci$index is powered" until_true 30 powered "$index"
    done
}

# emulator NUMBER [OPTION]: so many controllers. On a busy machine it may miss the two seconds that the kernel waits for
# an answer; then it is started again.
emulator() {
    # It needs the kernel's ciphers. Were they loaded when it asks for them, the first controller's
    # first command would be older than those two seconds.
    modprobe -a algif_hash algif_skcipher cmac ecb
    for _ in 1 2 3 4 5; do
        start_here btvirt "${LAB_CACHE:-.build-lab}/btvirt" ${2:-} "-l$1"
        until_true 20 [ -e "/sys/class/bluetooth/hci$(($1 - 1))" ]
        ! until_true 20 controllers_are "$1" || return 0
        stop "$btvirt" KILL
    done
    fail "$1 controllers are not ready"
}

# Asked while there is none yet, btmgmt does not come back.
controllers_are() { [ "$(MGMT_SECONDS=6 mgmt info | grep -c '^hci')" = "$1" ]; }

# address_of INDEX: the controller's Bluetooth address.
address_of() { mgmt --index "$1" info | sed -n 's/.*addr \([0-9A-F:]*\) .*/\1/p'; }

# powered INDEX
powered() { [[ $(mgmt --index "$1" info) == *'current settings: '*powered* ]]; }

# power INDEX on|off: off is how a radio is lost; its advertising is gone when it comes back.
power() { mgmt --index "$1" power "$2" >>"$LAB/mgmt.out"; }

# advertise INDEX: a connectable, discoverable LE advertisement without content of ours.
advertise() { mgmt --index "$1" add-adv -c -g -n 1 >>"$LAB/mgmt.out"; }

# finds INDEX ADDRESS [SECONDS]: the controller hears an LE advertisement from there. The kernel
# advertises every 1.28 s, and reports nothing that came before it was ready to.
finds() { until_true "${3:-60}" found_at_once "$1" "$2"; }

found_at_once() {
    # Of a search that is cut short, what it said in time counts; on a busy machine the program takes seconds to begin.
    MGMT_SECONDS=6 mgmt --index "$1" find -l >"$LAB/find.out" 2>&1
    mgmt --index "$1" stop-find -l >>"$LAB/mgmt.out" 2>&1
    grep -q "dev_found: $2" "$LAB/find.out"
}

# radios HOST…: makes these hosts, each with an emulated Wi-Fi radio, wlan0. All hear each other.
radios() {
    local host radio=0
    modprobe -r mac80211_hwsim 2>/dev/null
    modprobe mac80211_hwsim "radios=$#" || not_run "this kernel has no module mac80211_hwsim"
    host "$@"
    for host; do
        PHY[$host]=$(basename /sys/class/mac80211_hwsim/hwsim$radio/ieee80211/phy*)
        iw phy "${PHY[$host]}" set netns name "$NS-$host"
        ip -n "$NS-$host" link set "wlan$radio" name wlan0
        radio=$((radio + 1))
    done
}
declare -A PHY

# hears HOST BITS: its radio hears those with which it has a bit in common.
hears() { echo "$2" >"/sys/kernel/debug/ieee80211/${PHY[$1]}/hwsim/group"; }

# switched HOST off|on: the radio's own switch, as `rfkill block` does it.
switched() {
    local soft=0
    [ "$2" = on ] || soft=1
    in_host "$1" sh -c "echo $soft >\"\$(echo /sys/class/net/wlan0/phy80211/rfkill*/soft)\""
}

# wifi HOST ACTION [ARGUMENT…]: deploy/wifi-mesh.sh there.
wifi() {
    local host=$1 action=$2
    shift 2
    in_host "$host" env "RUNTIME_DIRECTORY=$LAB/run_$host" \
        deploy/wifi-mesh.sh "$action" wlan0 "$@" >>"$LAB/wifi_$host.out" 2>&1
}

# keep_wifi HOST ARGUMENT…: as its service does, until the case ends or the process is stopped.
keep_wifi() {
    local host=$1
    shift
    start "keep_$host" "$host" env "RUNTIME_DIRECTORY=$LAB/run_$host" \
        deploy/wifi-mesh.sh keep wlan0 "$@"
}

# in_network HOST: its radio is in a network.
in_network() { [[ $(in_host "$1" iw dev wlan0 info) == *channel* ]]; }

not_in_network() { ! in_network "$1"; }

# peers HOST NUMBER: so many other radios have a link with it.
peers() { [ "$(in_host "$1" iw dev wlan0 station dump | grep -c 'plink:.*ESTAB')" = "$2" ]; }

# link_local HOST: its IPv6 address on the radio.
link_local() { in_host "$1" ip -6 -br addr show dev wlan0 | grep -o 'fe80[^/]*'; }

# measure_round_trip FROM TO: 100 bytes there and back.
measure_round_trip() {
    local result
    result=$(in_host "$1" ping -6 -q -c 20 -i 0.1 -s 92 -W 2 "$(link_local "$2")%wlan0" |
        sed -n 's/^rtt //p')
    measured "round trip $1–$2: ${result:-no answer}"
}

# gpio_chip LINES [LINE=NAME…]: an emulated GPIO chip, some of its lines with a name; the chip's is in
# $GPIO_CHIP. `pull` sets its inputs.
gpio_chip() {
    local folder=/sys/kernel/config/gpio-sim/lab named
    modprobe gpio-sim || not_run "this kernel has no module gpio-sim"
    mountpoint -q /sys/kernel/config || mount -t configfs config /sys/kernel/config
    mkdir -p "$folder/bank"
    # An earlier case of this boot may have left it.
    [ "$(cat "$folder/live")" = 0 ] || echo 0 >"$folder/live"
    echo "$1" >"$folder/bank/num_lines"
    shift
    for named; do
        mkdir -p "$folder/bank/line${named%%=*}"
        echo "${named#*=}" >"$folder/bank/line${named%%=*}/name"
    done
    plug_gpio
}

# plug_gpio: the chip of gpio_chip is there (again). unplug_gpio: it is pulled, whoever holds its lines.
plug_gpio() {
    local folder=/sys/kernel/config/gpio-sim/lab
    echo 1 >"$folder/live"
    GPIO_CHIP=$(cat "$folder/bank/chip_name")
    GPIO_DEVICE=/sys/devices/platform/$(cat "$folder/dev_name")/$GPIO_CHIP
}

unplug_gpio() { echo 0 >/sys/kernel/config/gpio-sim/lab/live; }

# pull LINE up|down: what an open input of the chip is pulled to.
pull() { echo "pull-$2" >"$GPIO_DEVICE/sim_gpio$1/pull"; }

# watch_edge LINE: $LAB/watch.out has a line once it rose. The tools of libgpiod 1 and 2 differ.
watch_edge() {
    if gpiomon --version | grep -q 'v1\.'; then
        start_here watch timeout 90 gpiomon --num-events=1 --rising-edge "$GPIO_CHIP" "$1"
    else
        start_here watch timeout 90 gpiomon --num-events=1 --edges=rising --chip "$GPIO_CHIP" "$1"
    fi
}

# watched LINE: gpiomon holds it.
watched() {
    local lines
    lines=$(gpioinfo "$GPIO_CHIP" 2>/dev/null || gpioinfo --chip "$GPIO_CHIP")
    [[ $(grep -E "line +$1:" <<<"$lines") == *gpiomon* ]]
}

# i2c_bus ADDRESS,…: an emulated I²C bus with memory for registers at these addresses; its number is
# in $I2C.
i2c_bus() {
    # An earlier case of this boot may have left one.
    modprobe -r i2c-stub 2>/dev/null
    modprobe i2c-dev
    modprobe i2c-stub "chip_addr=$1" || not_run "this kernel has no module i2c-stub"
    I2C=$(i2cdetect -l | sed -n 's/^i2c-\([0-9]*\).*SMBus stub.*/\1/p')
}

# i2c_word ADDRESS REGISTER VALUE: sets a register of 16 bits, high byte first, as thermometers have
# them.
i2c_word() { i2cset -f -y "$I2C" "$1" "$2" $((($3 & 0xff) << 8 | ($3 >> 8) & 0xff)) w; }

# i2c_driver NAME ADDRESS: the kernel's driver takes the chip.
i2c_driver() { echo "$1 $2" >"/sys/bus/i2c/devices/i2c-$I2C/new_device"; }

# i2c_unplug ADDRESS: the chip is gone.
i2c_unplug() { echo "$1" >"/sys/bus/i2c/devices/i2c-$I2C/delete_device"; }

# thermometers MILLIDEGREES,…: a 1-Wire bus with a DS18B20 for each; later readings are set in
# /sys/module/w1_sim/parameters/temps, crc_errors and absent make them fail.
thermometers() {
    modprobe -r w1_sim 2>/dev/null
    modprobe wire timeout=1
    modprobe w1_therm
    modprobe w1_sim "temps=$1" || not_run "there is no module w1_sim"
    must "the bus is searched" until_true 60 test -e /sys/bus/w1/devices/28-0001a0115e01/temperature
}

# sensing LINES: an agent a with these sensors and a collector c on one LAN, both running.
sensing() {
    host a c
    lan 1 a c
    config c collector
    config a agent "sensors:
$1
report: {wait: 0s}"
    collect c
    agent a
    must "the agent has a collector" until_true 90 connected a
}

# reads CHANNEL TEXT: the newest row about it in the collector's table has this in it.
reads() {
    [[ $(grep -F "\"channel\":\"$1\"" "$LAB/collect_c.out" | grep -v '"count":0,"nulls":0,' |
        tail -n 1) == *"$2"* ]]
}

# comes_to_read SECONDS CHANNEL TEXT
comes_to_read() { must "$2 becomes $3" until_true "$1" reads "$2" "$3"; }
