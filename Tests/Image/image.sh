# Sourced by run.sh: the image for Raspberry Pi, from the build to a collector that prints its readings.
#
# For each run: what becomes of the boot partition, and flashing; together about a minute. By hand, as a root is
# built and booted by emulation, some twenty minutes on two cores: IMAGE_BOOT='build virt power-cut' builds the image,
# boots it on the machine `virt` of QEMU and cuts the power at five random moments of the first boot, with IMAGE_CUTS=30
# at thirty. `raspi3b` boots the board; `hour` watches for an hour what is written to the card. What is not built anew
# is the image of the last time.
. Tests/Image/guest.sh
. Tests/Image/boot-config.sh
. Tests/Image/flashing.sh

run_image() {
    release_build rivulet rivulet-agent
    need mtools dosfstools openssh-client util-linux fdisk xz-utils
    local name
    for name in $(compgen -A function case_boot_config_); do run_case "${name#case_}" "$name"; done
    for name in $(compgen -A function case_flash_); do run_case "${name#case_}" "$name"; done
    if [ -z "${IMAGE_BOOT:-}" ]; then
        echo "not run image-boot: some twenty minutes of emulation; by hand with IMAGE_BOOT='build virt power-cut'"
        return
    fi
    need socat iproute2 qemu-system-arm device-tree-compiler
    IMAGE=$WORK/card.img
    for name in $IMAGE_BOOT; do run_case "image-$name" "case_${name//-/_}"; done
}

# The image that all cases share: north, with a key for ssh.
case_build() {
    rm -f "$WORK/card.img" "$WORK/key" "$WORK/key.pub"
    ssh-keygen -q -t ed25519 -N '' -C test -f "$WORK/key"
    (umask 077 && "$BIN/rivulet" secret >"$WORK/secret")
    cat >"$WORK/rivulet.yaml" <<'YAML'
name: North
network: lab
role: agent
sensors:
  - {driver: system, every: 1s}
YAML
    deploy/build-image.sh --board rpi --config "$WORK/rivulet.yaml" --secret "$WORK/secret" \
        --ssh-key "$WORK/key.pub" --output "$WORK/card.img" ${IMAGE_DEBS:+--packages "$IMAGE_DEBS"} ||
        fail "no image"
    measured "$(du -m --apparent-size "$WORK/card.img" | cut -f 1) MiB," \
        "of which $(du -m "$WORK/card.img" | cut -f 1) used"
}

# reached SECONDS: the board's readings come out of the collector. $HEARD is how many seconds after the start the
# collector heard it first.
reached() {
    must "a beacon within $1 s: $(tail -qn 3 "$LAB"/*.serial 2>/dev/null)" until_true "$1" has_heard
    HEARD=$(seconds_since_boot)
    GUEST_ADDRESS=$(guest_address)
    must "readings of the board within $1 s: $(tail -qn 3 "$LAB"/*.serial 2>/dev/null)" until_true "$1" has_readings North
}

case_virt() {
    [ -f "$WORK/card.img" ] || fail "there is no image"
    open_lab
    card first
    boot virt first
    reached 420
    # The moments of the power cuts lie within this.
    echo "${HEARD%.*}" >"$WORK/first-boot-seconds"
    measured "virt: first beacon heard $HEARD s after power on, first row after $(seconds_since_boot) s"
    must "ssh" until_true 120 in_guest true
    healthy
    footprint_in_guest
    measured "written to the card by the first boot: $(($(bytes_written) / 1024)) KiB"
    broken_file
}

# healthy: what a board must be like after each start.
healthy() {
    local said
    said=$(in_guest 'hostname; findmnt -no OPTIONS / | cut -d, -f1; findmnt -no SIZE -b /var
        cat /etc/machine-id; systemctl is-active rivulet-agent; readlink /var/lib/rivulet-config/current
        systemctl --failed --plain --no-legend') || fail "ssh ended with $?"
    echo "$said"
    local lines
    mapfile -t lines <<<"$said"
    [ "${lines[0]}" = north ] || fail "the host name is ${lines[0]}"
    [ "${lines[1]}" = ro ] || fail "the root is mounted ${lines[1]}"
    [ "${lines[2]}" -gt 2000000000 ] || fail "/var has not grown: ${lines[2]} bytes"
    [[ ${lines[3]} =~ ^[0-9a-f]{32}$ ]] || fail "no number of the installation: ${lines[3]}"
    [ "${lines[4]}" = active ] || fail "the agent is ${lines[4]}"
    [ ${#lines[@]} = 6 ] || fail "units have failed: ${lines[*]:6}"
    in_guest 'rivulet check /etc/rivulet/config.yaml && rivulet status' || fail "the configuration is not whole"
}

footprint_in_guest() {
    local said
    said=$(in_guest 'p=$(systemctl show -P MainPID rivulet-agent)
        ticks() { cut -d" " -f14,15 /proc/$p/stat | tr " " +; }
        a=$(($(ticks))); sleep 20; b=$(($(ticks)))
        sync
        awk "/^Rss:/ {r=\$2} /^Anonymous:/ {d=\$2} END {printf \"resident %.1f MB, private %.1f MB\", r/1000, d/1000}" \
            /proc/$p/smaps_rollup
        echo ", $(((b - a) / 20)).$(((b - a) / 2 % 10)) % of an emulated core"
        journalctl -b -o short-monotonic -u rivulet-agent --no-pager | head -n 3
        free -m | sed -n 2p; df -m / /var | tail -n 2; systemd-analyze 2>/dev/null | head -n 1')
    measured "agent in the guest: $(head -n 1 <<<"$said")"
    echo "$said" | tail -n +2
    measured "guest: $(grep Startup <<<"$said" || true)"
}

# The node's own PeerID stands first.
identity_in_guest() { in_guest 'rivulet status --json' | grep -o '"peer":"[^"]*"' | sed -n 1p; }

# broken_file: what is on the card is replaced while the power is off; the board goes on with what it had.
broken_file() {
    identity_in_guest >"$LAB/peer"
    [ -s "$LAB/peer" ] || fail "no status"
    in_guest poweroff || true
    until_true 60 guest_is_off || fail "it does not switch itself off"
    wait "$GUEST"
    local at=$LAB/first.img@@4M
    printf 'name: North\r\nrolle: agent\r\n' | mcopy -o -i "$at" - ::/rivulet.yaml
    forget_readings
    boot virt first
    reached 420
    must "ssh" until_true 120 in_guest true
    healthy
    identity_in_guest | cmp - "$LAB/peer" || fail "another identity"
    cut_power
    mtype -i "$at" ::/rivulet.yaml.error.txt >"$LAB/told" || fail "no rivulet.yaml.error.txt"
    cat "$LAB/told"
    grep -q 'rivulet.yaml:2:1: unknown key rolle' "$LAB/told" || fail "the mistake is not told"
}

# At random moments of the first boot; then it must come up whole.
case_power_cut() {
    [ -f "$WORK/card.img" ] || fail "there is no image"
    open_lab
    local cuts=${IMAGE_CUTS:-5} n moment seed=${IMAGE_SEED:-$RANDOM} within
    within=$(cat "$WORK/first-boot-seconds" 2>/dev/null || echo 40)
    RANDOM=$seed
    for ((n = 1; n <= cuts; n++)); do
        card cut
        moment=$((RANDOM % 1000 * within + 500))
        echo "cut $n of $cuts after $moment ms (seed $seed)"
        boot virt cut
        sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
        cut_power
        tail -n 1 "$LAB/cut.serial" | tr -d '\r'
        forget_readings
        boot virt cut
        reached 420
        must "ssh" until_true 120 in_guest true
        healthy
        cut_power
        forget_readings
    done
    measured "$cuts cuts (seed $seed), came back whole $cuts times"
}

case_raspi3b() {
    open_lab
    card board
    boot raspi3b board
    reached 900
    measured "raspi3b: first beacon heard $HEARD s after power on, first row after $(seconds_since_boot) s"
    must "ssh" until_true 120 in_guest true
    healthy
    in_guest 'rivulet board | head -n 60; wdctl -x | head -n 3
        ls -d /dev/i2c* /dev/spidev* /dev/watchdog* /sys/bus/w1/devices/*
        journalctl -b --no-pager | grep -i watchdog'
    footprint_in_guest
}

# What a board writes to its card while nothing happens but readings.
case_hour() {
    local minutes=${IMAGE_MINUTES:-60}
    open_lab
    card hour
    boot virt hour
    reached 420
    sleep 300
    local before after
    before=$(bytes_written)
    sleep $((minutes * 60))
    after=$(bytes_written)
    measured "written to the card in $minutes min of normal running: $(((after - before) / 1024)) KiB"
    forget_readings
    must "readings still come" until_true 30 has_readings North
}
