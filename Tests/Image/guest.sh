# Sourced by image.sh: an emulated board on a switch, with a collector beside it. All of it is in network namespaces;
# a tap alone would count as a tunnel, where nobody is looked for.

GUEST_MAC=52:54:00:12:34:56

# open_lab: a switch with a place for the guest, and a collector that prints JSON.
open_lab() {
    LAB=$WORK/lab-$BASHPID
    rm -rf "$LAB"
    mkdir -p "$LAB"
    . Tests/Network/lab.sh
    # Sourced again for its own words.
    . Tests/Image/common.sh
    trap close_lab EXIT
    host outside
    lan 1 outside
    ip -n "$NS-sw1" tuntap add dev guest mode tap
    ip -n "$NS-sw1" link set guest master br0 up
    SECRET=$WORK/secret config collector collector
    collect_readings
}

# collect_readings: what it prints goes to $LAB/collector.out, what it logs to $LAB/collector.err.
collect_readings() {
    start collector outside "$BIN/rivulet" collect --config "$LAB/collector.yaml" --format json --every 2s
}

close_lab() {
    local pid name
    [ -z "${GUEST:-}" ] || kill -9 "$GUEST" 2>/dev/null
    for pid in "${PIDS[@]}"; do kill "$pid" 2>/dev/null; done
    wait 2>/dev/null
    for name in "${NAMES[@]}"; do ip netns del "$NS-$name" 2>/dev/null; done
    rm -f "$LAB"/*.img
}

# card NAME [SIZE]: a fresh card of that size, from the image, as $LAB/NAME.img.
card() {
    cp --sparse=always "$IMAGE" "$LAB/$1.img"
    truncate -s "${2:-4G}" "$LAB/$1.img"
}

# boot MACHINE CARD: what the board says on its serial port goes to $LAB/CARD.serial. Each write is in the file
# when the guest is told that it was done: a card that is honest. Killed, the machine loses what is under way.
boot() {
    local system=$TOP/.build-image/system kernel initrd options line
    kernel=$(ls "$system"/boot/vmlinuz-*)
    initrd=$(ls "$system"/boot/initrd.img-*)
    line="console=ttyAMA0,115200 root=LABEL=rivulet-root ro fsck.repair=yes net.ifnames=0 rootwait panic=10"
    case $1 in
    virt)
        options=(-M virt -cpu cortex-a72 -smp 2 -m 512
            -drive "if=none,id=card,file=$LAB/$2.img,format=raw,cache=writethrough"
            -device virtio-blk-device,drive=card
            -device "virtio-net-device,netdev=net,mac=$GUEST_MAC"
            -object rng-random,id=rng,filename=/dev/urandom -device virtio-rng-device,rng=rng)
        ;;
    raspi3b)
        board_tree "$LAB/board.dtb"
        options=(-M raspi3b -dtb "$LAB/board.dtb"
            -drive "if=sd,file=$LAB/$2.img,format=raw,cache=writethrough"
            -device "usb-net,netdev=net,mac=$GUEST_MAC")
        # Of the two serial ports QEMU wires the one that Bluetooth has on a board: no login there.
        line+=" systemd.mask=serial-getty@ttyAMA0.service"
        # QEMU's watchdog does not count: it resets the board as soon as it is wound up.
        line+=" modprobe.blacklist=bcm2835_wdt"
        ;;
    esac
    BOOTED=$(date +%s%N)
    ip netns exec "$NS-sw1" qemu-system-aarch64 "${options[@]}" -display none -no-reboot -kernel "$kernel" \
        -initrd "$initrd" -append "$line" -serial "file:$LAB/$2.serial" \
        -monitor "unix:$LAB/monitor,server=on,wait=off" \
        -netdev tap,id=net,ifname=guest,script=no,downscript=no >"$LAB/$2.qemu" 2>&1 &
    GUEST=$!
}

# board_tree FILE: Debian's device tree of the Pi 3 B with our overlays, as the board's firmware puts them together.
board_tree() {
    local overlay base
    base=$TOP/.build-image/firmware/bcm2837-rpi-3-b.dtb
    for overlay in rivulet-w1 rivulet-spi; do
        dtc -q -@ -I dts -O dtb -o "$LAB/$overlay.dtbo" "deploy/image/overlays/$overlay.dts"
    done
    fdtoverlay -i "$base" -o "$1" "$LAB/rivulet-w1.dtbo" "$LAB/rivulet-spi.dtbo"
}

# cut_power: in the middle of whatever it does.
cut_power() {
    kill -9 "$GUEST"
    wait "$GUEST" 2>/dev/null
    GUEST=''
}

# in_guest COMMAND…: as root, over ssh.
in_guest() {
    ip netns exec "$NS-outside" ssh -q -i "$WORK/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
        -o ConnectTimeout=20 -o BatchMode=yes "root@$GUEST_ADDRESS" "$@" </dev/null
}

# guest_is_off: it ended by itself.
guest_is_off() { ! grep -q '^State:.[^Z]' "/proc/$GUEST/status" 2>/dev/null; }

# guest_address: as the collector heard it; a USB card of QEMU has the hardware address that it was given, or another.
guest_address() { sed -n 's/.*neighbour North at \[\([^]]*\)\].*/\1/p' "$LAB/collector.err" | tail -n 1; }

# has_heard: the collector has heard a beacon of the board.
has_heard() { grep -q 'neighbour North' "$LAB/collector.err" 2>/dev/null; }

# has_readings [NODE]: the collector has printed a row with readings of the board.
has_readings() {
    # Read to the end: a grep that stops early would end the one before it.
    [ "$(grep "\"node\":\"${1:-north}\"" "$LAB/collector.out" 2>/dev/null | grep -vc '"count":0,')" -gt 0 ]
}

# seconds_since_boot: with a tenth.
seconds_since_boot() { awk -v from="$BOOTED" -v to="$(date +%s%N)" 'BEGIN {printf "%.1f", (to - from) / 1e9}'; }

# bytes_written: to the card since the machine was started.
bytes_written() {
    echo "info blockstats" | socat -t 2 - "UNIX-CONNECT:$LAB/monitor" | tr -d '\r' |
        sed -n 's/.* wr_bytes=\([0-9]*\).*/\1/p' | sort -n | tail -n 1
}

# forget_readings: the next that the collector prints are of what runs now.
forget_readings() {
    kill "$collector"
    wait "$collector" 2>/dev/null
    rm -f "$LAB/collector.out" "$LAB/collector.err"
    collect_readings
}
