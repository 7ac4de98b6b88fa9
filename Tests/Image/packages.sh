# Sourced by run.sh: the packages, in whole systems of Debian 12 and 13.

run_packages() {
    local release
    need "${IMAGE_PACKAGES[@]}" lintian man-db
    build_packages || return
    for release in "${RELEASES[@]}"; do
        run_case "packages-$release-install" case_install "$release"
        run_case "packages-$release-collector" case_collector "$release"
        run_case "packages-$release-refused-device" case_refused_device "$release"
    done
    run_case packages-lintian case_lintian
    run_case packages-reproducible case_reproducible
    run_case packages-manuals case_manuals
    run_case packages-wrong-system case_wrong_system
}

# Node NAME on machine m, as somebody sets it up by hand.
configure() {
    in_machine m sh -euc "
        umask 077
        cat >/etc/rivulet/config.yaml <<'YAML'
name: $1
network: lab
role: $2
${3:-}
YAML
        chmod 644 /etc/rivulet/config.yaml
        rivulet secret >/etc/rivulet/secret
        chown rivulet: /etc/rivulet/secret"
}

agent_is() { [ "$(in_machine m systemctl is-active rivulet-agent)" = "$1" ]; }
peer() { in_machine m rivulet status --json | sed -n 's/^{* *"name".*"peer": *"\([^"]*\)".*/\1/p; s/^ *"peer": *"\([^"]*\)".*/\1/p' | head -n 1; }
no_failed_units() { [ -z "$(in_machine m systemctl list-units --failed --plain --no-legend)" ]; }

# files: everything on machine m but what any program's run leaves.
files() {
    in_machine m find / -xdev \( -path /var/lib/dpkg -o -path /var/cache -o -path /var/log -o -path /run -o \
        -path /tmp -o -path /root -o -path /var/lib/systemd -o -path /var/lib/apt -o -path '/etc/*-' -o -path /dev \
        -o -path /var/tmp -o -path /etc/.pwd.lock \) -prune -o -print | sort
}

case_install() {
    local release=$1 first second
    trap machines_down EXIT
    machine_up m "$release" --private-network || fail "the machine boots"
    in_machine m mkdir /root/debs
    into_machine m /root/debs "$PACKAGES_FOLDER"/*"~deb${NUMBER[$release]}_amd64.deb"
    files >"$WORK/before"

    must "they install" in_machine m sh -c 'apt-get install -qq -y /root/debs/rivulet*-1~*.deb'
    must "nothing has failed without a configuration" no_failed_units
    must "the service is enabled" in_machine m systemctl is-enabled --quiet rivulet-agent
    must "it waits for a configuration" agent_is inactive
    configure north agent 'sensors: [{driver: system, every: 1s}]'
    must "the configuration is right" in_machine m rivulet check /etc/rivulet/config.yaml
    must "it starts" in_machine m systemctl start rivulet-agent
    must "it is healthy" until_true 60 in_machine m rivulet-agent --health
    first=$(peer)
    must "it has an identity" [ -n "$first" ]

    in_machine m useradd -G rivulet member
    in_machine m useradd stranger
    must "the group sees its status" in_machine m runuser -u member -- rivulet status
    must "others do not" bash -c "! $(declare -f in_machine leader); $(declare -p MACHINES); \
        ! in_machine m runuser -u stranger -- rivulet status 2>/dev/null"
    must "the journal has its log" bash -c "$(declare -f in_machine leader); $(declare -p MACHINES); \
        in_machine m journalctl -u rivulet-agent | grep 'north is $first' >/dev/null"

    must "its exposure is at most 2.4" in_machine m systemd-analyze security --no-pager --threshold=24 rivulet-agent
    in_machine m sh -c 'mkdir -p /etc/systemd/system/rivulet-agent.service.d
        cp /usr/share/doc/rivulet-agent/examples/no-bluetooth.conf /etc/systemd/system/rivulet-agent.service.d/
        systemctl daemon-reload'
    must "without Bluetooth at most 1.9" in_machine m systemd-analyze security --no-pager --threshold=19 rivulet-agent
    in_machine m sh -c 'systemctl restart rivulet-agent'
    must "it runs without Bluetooth too" until_true 60 in_machine m rivulet-agent --health
    in_machine m sh -c 'rm -r /etc/systemd/system/rivulet-agent.service.d; systemctl daemon-reload
        systemctl restart rivulet-agent'
    must "it is healthy again" until_true 60 in_machine m rivulet-agent --health

    in_machine m sh -c 'mkdir -p /run/systemd/system/rivulet-agent.service.d
        printf "[Service]\nWatchdogSec=2s\n" >/run/systemd/system/rivulet-agent.service.d/w.conf
        systemctl daemon-reload; systemctl restart rivulet-agent'
    first=$(in_machine m systemctl show -P MainPID rivulet-agent)
    in_machine m kill -STOP "$first"
    restarted() { second=$(in_machine m systemctl show -P MainPID rivulet-agent); [[ $second != 0 && $second != "$first" ]]; }
    must "one that hangs is started again" until_true 90 restarted

    first=$(peer)
    machine_down m
    machine_up m "$release" --private-network || fail "the machine boots again"
    must "it starts at boot" until_true 60 in_machine m rivulet-agent --health
    must "it is the same node" [ "$(peer)" = "$first" ]

    must "it is upgraded" in_machine m sh -c 'apt-get install -qq -y /root/debs/rivulet*-2~*.deb'
    must "the new one is healthy" until_true 60 in_machine m rivulet-agent --health
    must "it is the same node after an upgrade" [ "$(peer)" = "$first" ]
    decided() { [ "$(in_machine m systemctl show -P ActiveState rivulet-update)" = inactive ]; }
    must "the new version is kept" until_true 120 decided
    must "nothing of the update is left" bash -c "$(declare -f in_machine leader); $(declare -p MACHINES); \
        ! in_machine m test -e /var/lib/rivulet-update"
    must "nothing has failed after an upgrade" no_failed_units

    must "they are removed" in_machine m apt-get remove -qq -y rivulet-agent rivulet
    must "the configuration stays" in_machine m test -s /etc/rivulet/config.yaml
    must "the identity stays" in_machine m test -s /var/lib/rivulet/identity.pem
    must "they are purged" in_machine m apt-get purge -qq -y rivulet-agent rivulet
    in_machine m sh -c 'userdel member; userdel stranger; systemctl daemon-reload'
    files >"$WORK/after"
    must "no file is left" [ -z "$(comm -13 "$WORK/before" "$WORK/after" | tee /dev/stderr)" ]
    machine_down m
}

# The collector as a service, the agent's package beside it; somebody looks in.
case_collector() {
    local release=$1
    trap machines_down EXIT
    machine_up m "$release" --private-network || fail "the machine boots"
    in_machine m mkdir /root/debs
    into_machine m /root/debs "$PACKAGES_FOLDER"/*"-1~deb${NUMBER[$release]}_amd64.deb"
    must "they install" in_machine m sh -c 'apt-get install -qq -y /root/debs/*.deb'
    configure base collector
    must "the collector starts" in_machine m systemctl enable --now rivulet-collector
    must "it stores" until_true 60 in_machine m test -s /var/lib/rivulet/readings.sqlite
    must "the agent's service is skipped" in_machine m systemctl start rivulet-agent
    must "and has not failed" no_failed_units
    must "it does not run" agent_is inactive
    in_machine m sh -c 'timeout 10 rivulet collect --for 2s 2>/tmp/look' || fail "looking in ends well"
    must "looking in says so" in_machine m grep -q 'looking in' /tmp/look
    must "its exposure is at most 2.4" in_machine m systemd-analyze security --no-pager --threshold=24 rivulet-collector
    must "its status is there" in_machine m rivulet status
    machine_down m
}

# A device that the unit does not allow is told as that.
case_refused_device() {
    local release=$1 process
    trap machines_down EXIT
    machine_up m "$release" --private-network --capability=all --system-call-filter=bpf || fail "the machine boots"
    in_machine m mkdir /root/debs
    into_machine m /root/debs "$PACKAGES_FOLDER"/*"-1~deb${NUMBER[$release]}_amd64.deb"
    must "they install" in_machine m sh -c 'apt-get install -qq -y /root/debs/*.deb'
    process=$(leader m)
    nsenter --target "$process" --mount sh -c 'umask 0; mknod /dev/i2c-1 c 89 1'
    configure north agent 'sensors: [{driver: i2c, device: scd4x, bus: 1, every: 5s}]'
    must "it starts" in_machine m systemctl start rivulet-agent
    refused() { in_machine m journalctl -u rivulet-agent | grep 'scd4x.*not allowed to this service' >/dev/null; }
    must "it says that its unit does not allow the device" until_true 60 refused
    must "init allows what the configuration needs" in_machine m rivulet init --devices
    must "which the unit then does" in_machine m grep -q '^DeviceAllow=.*89' \
        /etc/systemd/system/rivulet-agent.service.d/devices.conf
    in_machine m systemctl restart rivulet-agent
    allowed() {
        in_machine m journalctl "_PID=$(in_machine m systemctl show -P MainPID rivulet-agent)" |
            grep 'scd4x.*i2c-1' | grep -v 'not allowed to this service' >/dev/null
    }
    must "and where it does, the device is asked" until_true 60 allowed
    machine_down m
}

case_lintian() {
    local said
    said=$(lintian --allow-root --tag-display-limit 0 "$PACKAGES_FOLDER"/*-1~*.deb 2>&1) || true
    echo "$said"
    must "lintian has nothing to say" [ -z "$said" ]
}

# From the same programs; whole builds in two folders are compared by hand.
case_reproducible() {
    local folder
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    cp "$PACKAGES_FOLDER"/*-1~deb"${NUMBER[${RELEASES[0]}]}"_amd64.deb "$folder/"
    sleep 1
    (umask 077 && build_one "${RELEASES[0]}")
    for file in "$folder"/*.deb; do must "the same bytes: ${file##*/}" cmp "$file" "$PACKAGES_FOLDER/${file##*/}"; done
}

# Every command has its page, and no page has a mistake.
case_manuals() {
    local folder page said
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    for package in "$PACKAGES_FOLDER"/*-1~deb"${NUMBER[${RELEASES[0]}]}"_amd64.deb; do dpkg-deb -x "$package" "$folder"; done
    for command in agent collect status check query; do
        must "rivulet-$command has a page" [ -e "$folder/usr/share/man/man1/rivulet-$command.1.gz" ]
    done
    for page in "$folder"/usr/share/man/man1/*.gz; do
        said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
        must "no mistakes in ${page##*/}: $said" [ -z "$said" ]
    done
    must "completions for bash" bash -n "$folder/usr/share/bash-completion/completions/rivulet"
}

# dpkg says what is wrong with a package for another machine.
case_wrong_system() {
    trap machines_down EXIT
    local release=${RELEASES[0]} said
    machine_up m "$release" --private-network || fail "the machine boots"
    local folder=$LAYERS/other
    mkdir -p "$folder/x/DEBIAN"
    # By another architecture, and with a newer C library than here.
    dpkg-deb -e "$PACKAGES_FOLDER"/rivulet-agent_*-1~deb"${NUMBER[$release]}"_amd64.deb "$folder/x/DEBIAN"
    sed -i 's/^Architecture: .*/Architecture: arm64/' "$folder/x/DEBIAN/control"
    dpkg-deb -b "$folder/x" "$folder/arm64.deb" >/dev/null
    sed -i 's/^Architecture: .*/Architecture: amd64/; s/libc6 (>= [^)]*)/libc6 (>= 2.99)/' "$folder/x/DEBIAN/control"
    dpkg-deb -b "$folder/x" "$folder/newer.deb" >/dev/null
    into_machine m /root "$folder/arm64.deb" "$folder/newer.deb"
    said=$(in_machine m dpkg -i /root/arm64.deb 2>&1) && fail "another architecture is installed"
    must "it names the architectures: $said" grep -q 'arm64.*does not match system (amd64)' <<<"$said"
    said=$(in_machine m apt-get install -y /root/newer.deb 2>&1) && fail "one for a newer C library is installed"
    must "it names the C library: $said" grep -q 'Depends: libc6 (>= 2.99)' <<<"$said"
    machine_down m
}
