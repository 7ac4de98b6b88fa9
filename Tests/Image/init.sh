# Sourced by run.sh: a machine becomes a node by `rivulet init`, the next one by its line, on whole systems with the
# packages' users and services.

run_init() {
    local release
    need "${IMAGE_PACKAGES[@]}"
    build_packages || return
    for release in "${RELEASES[@]}"; do run_case "init-$release" case_init "$release"; done
}

# node NAME RELEASE: a machine with the packages, on a wire with the others.
node() {
    machine_up "$1" "$2" --machine="rv$1" --network-zone=rvinit || fail "$1 boots"
    # What systemd-networkd would do where it runs.
    ip link set vz-rvinit up
    ip link set "vb-rv$1" up
    in_machine "$1" ip link set host0 up
    in_machine "$1" mkdir /root/debs
    into_machine "$1" /root/debs "$PACKAGES_FOLDER"/*"-1~deb${NUMBER[$2]}_amd64.deb"
    must "they install on $1" in_machine "$1" sh -c 'apt-get install -qq -y /root/debs/*.deb'
}

# owned NAME PATH USER MODE
owned() { [ "$(in_machine "$1" stat -c '%U %a' "$2")" = "$3 $4" ]; }
is() { [ "$(in_machine "$1" systemctl is-active "$2")" = "$3" ]; }
is_line() { [[ $1 =~ ^rivulet1:[a-z2-7]+$ ]]; }
# What `rivulet check --here` says on bench.
checked() { in_machine bench rivulet check --here 2>&1; }
has_row() { in_machine office rivulet query --limit 1 2>/dev/null | grep -w bench >/dev/null; }

case_init() {
    local release=$1 line again said devices=/etc/systemd/system/rivulet-agent.service.d/devices.conf
    trap machines_down EXIT
    node office "$release"
    node bench "$release"

    line=$(in_machine office rivulet init --network greenhouse --role collector) || fail "rivulet init"
    must "one line is printed" is_line "$line"
    must "the secret is the service's" owned office /etc/rivulet/secret rivulet 600
    must "the state is, too" owned office /var/lib/rivulet rivulet 700
    must "and the identity" owned office /var/lib/rivulet/identity.pem rivulet 600
    must "others may look into the folder" owned office /etc/rivulet root 755
    must "the collector runs" is office rivulet-collector active
    must "and no agent beside it" is office rivulet-agent inactive
    must "it starts at boot" in_machine office systemctl is-enabled --quiet rivulet-collector
    again=$(in_machine office rivulet init 2>/dev/null) || fail "a second run"
    must "a second run prints the same" [ "$again" = "$line" ]

    in_machine bench rivulet join --name bench <<<"$line" >/dev/null || fail "rivulet join"
    must "the agent runs" is bench rivulet-agent active
    must "the secret is the service's on bench" owned bench /etc/rivulet/secret rivulet 600
    must "its readings arrive" until_true 120 has_row

    must "nothing is amiss: $(checked)" [ "$(checked | grep -c 'does not allow')" = 0 ]
    in_machine bench sh -c 'echo "  - {driver: gpio, chip: gpiochip0, line: 3, name: door}" >>/etc/rivulet/config.yaml'
    must "a new sensor is noticed" [ "$(checked | grep -c 'does not allow.*DeviceAllow=char-gpiochip rw')" = 1 ]
    must "and allowed" in_machine bench rivulet init --devices
    must "which is written down" in_machine bench grep -qx 'DeviceAllow=char-gpiochip rw' "$devices"
    must "then nothing is amiss" [ "$(checked | grep -c 'does not allow')" = 0 ]
    must "the agent runs on" is bench rivulet-agent active
    said=$(in_machine bench systemctl show -P DeviceAllow rivulet-agent)
    must "systemd took it: $said" [ "${said#*char-gpiochip rw}" != "$said" ]
    must "its exposure is at most 2.4" \
        in_machine bench systemd-analyze security --no-pager --threshold=24 rivulet-agent

    in_machine bench rivulet init --role relay --force >/dev/null || fail "another role"
    must "the old configuration is kept" in_machine bench grep -q gpiochip0 /etc/rivulet/config.yaml.bak
    must "the relay runs" is bench rivulet-agent active
    machine_down bench
    machine_down office
}
