# Sourced by run.sh: updates, the way back, and what a power cut leaves.
. Tests/Image/way-back.sh

run_update() {
    local release name
    need "${IMAGE_PACKAGES[@]}" "${NETWORK_PACKAGES[@]}" openssh-client
    for name in $(compgen -A function case_way_back_); do run_case "${name#case_}" "$name"; done
    build_packages || return
    for release in "${RELEASES[@]}"; do
        run_case "update-$release-keeps-readings" case_keeps_readings "$release"
        run_case "update-$release-goes-back" case_goes_back "$release"
    done
    run_case update-hangs case_hangs "${RELEASES[-1]}"
    run_case update-power-cut case_update_power_cut "${RELEASES[-1]}"
    run_case update-fleet case_fleet "${RELEASES[-1]}"
    run_case update-previous-release case_previous_release
}

# machine_with NAME RELEASE [OPTION…]: booted, with packages of both revisions in /root/debs, the first installed.
machine_with() {
    local name=$1 release=$2
    shift 2
    machine_up "$name" "$release" "$@" || fail "the machine boots"
    in_machine "$name" mkdir -p /root/debs
    into_machine "$name" /root/debs "$PACKAGES_FOLDER"/*"~deb${NUMBER[$release]}_amd64.deb"
    must "the packages install" in_machine "$name" sh -c 'apt-get install -qq -y /root/debs/rivulet*-1~*.deb'
}

# configured NAME [LINES]: the agent of a machine is configured and started.
configured() {
    in_machine "$1" sh -euc "
        cat >/etc/rivulet/config.yaml <<'YAML'
name: $1
network: lab
role: agent
${2:-}
YAML
        install -o rivulet -g rivulet -m 600 /dev/stdin /etc/rivulet/secret" <"${SECRET_FILE:-/dev/null}"
    in_machine "$1" sh -c 'test -s /etc/rivulet/secret || rivulet secret >/etc/rivulet/secret; systemctl start rivulet-agent'
    must "$1 is healthy" until_true 60 in_machine "$1" rivulet-agent --health
}

installed() { [[ $(in_machine "$1" dpkg-query -W -f '${Version}' rivulet-agent) = *-"$2"~* ]]; }
whole() { [ -z "$(in_machine "$1" dpkg --audit)" ]; }
decided() { ! in_machine "$1" test -e /var/lib/rivulet-update; }
identity() { in_machine "$1" sha256sum /var/lib/rivulet/identity.pem /etc/rivulet/config.yaml /etc/rivulet/secret; }

# lab_machines: namespaces with machines in them, and programs of the host beside them.
lab_up() {
    . Tests/Network/lab.sh
    trap 'machines_down; lab_down' EXIT
    secret "$LAB/secret"
    SECRET_FILE=$LAB/secret
}

# An agent is upgraded while it reads a counter five times a second: the store has every number once.
case_keeps_readings() {
    local release=$1
    release_build rivulet-agent rivulet
    lab_up
    host c a
    lan 1 c a
    config c collector
    machine_with a "$release" --network-namespace-path="/run/netns/$NS-a"
    in_machine a sh -euc 'cat >/usr/local/bin/counter <<"SH"
#!/bin/sh
n=$(cat /var/lib/rivulet/counter 2>/dev/null || echo 0)
echo $((n + 1)) >/var/lib/rivulet/counter
echo $((n + 1))
SH
        chmod 755 /usr/local/bin/counter'
    start collect_c c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format none
    configured a 'sensors:
  - {driver: command, run: ["/usr/local/bin/counter"], every: 200ms, name: counter}'
    local before
    before=$(identity a)
    # A line for each reading: run, number, value (empty where the counter could not be read).
    stored() { "$BIN/rivulet" query --store "$LAB/c/readings.sqlite" --format csv 2>/dev/null | sed 1d | cut -d, -f4,8,9; }
    counted() { [ "$(stored | wc -l)" -ge "$1" ]; }
    must "readings arrive" until_true 90 counted 20
    must "it is upgraded" in_machine a sh -c 'apt-get install -qq -y /root/debs/rivulet-agent_*-2~*.deb'
    must "the new version is kept" until_true 120 decided a
    must "it is the new version" installed a 2
    must "identity and configuration are the same" [ "$(identity a)" = "$before" ]
    must "more readings arrive" until_true 90 counted 60
    local missing gapless='{ n[$1]++; if ($2 > last[$1]) last[$1] = $2 } END { for (r in n) if (n[r] != last[r]) exit 1 }'
    stored | sort -u >"$LAB/stored"
    must "there were two runs" [ "$(cut -d, -f1 "$LAB/stored" | uniq | wc -l)" = 2 ]
    must "no number of a reading is missing" awk -F, "$gapless" "$LAB/stored"
    # One may have been under way to be read when the agent was told to stop: that is no reading yet.
    cut -d, -f3 "$LAB/stored" | grep . | sort -n >"$LAB/values"
    missing=$(($(tail -n 1 "$LAB/values") - $(uniq "$LAB/values" | wc -l)))
    measured "numbers of the counter that were never read: $missing"
    must "and none that was read" [ "$missing" -le 1 ]
    must "each is there once" [ -z "$(uniq -d "$LAB/values")" ]
}

# broken NAME SHELL-COMMAND: on machine NAME a package /root/debs/broken.deb, of a third revision, whose agent is that.
broken() {
    in_machine "$1" sh -euc 'cd /root && rm -rf x && dpkg-deb -R /root/debs/rivulet-agent_*-2~*.deb x
        sed -i "s/^\(Version: .*\)-2~/\1-3~/" x/DEBIAN/control
        printf "#!/bin/sh\n%s\n" "$1" >x/usr/bin/rivulet-agent
        dpkg-deb --root-owner-group -Znone -b x /root/broken.deb >/dev/null' sh "$2"
    in_machine "$1" sh -c 'mkdir -p /run/systemd/system/rivulet-update.service.d
        printf "[Service]\nEnvironment=RIVULET_UPDATE_SECONDS=25\n" >/run/systemd/system/rivulet-update.service.d/t.conf
        systemctl daemon-reload'
}

went_back() { installed "$1" 1 && decided "$1"; }

# goes_back RELEASE COMMAND: a version whose agent is COMMAND does not stay.
goes_back() {
    local release=$1 before
    trap machines_down EXIT
    machine_with m "$release" --private-network
    configured m
    before=$(identity m)
    broken m "$2"
    in_machine m sh -c 'apt-get install -qq -y /root/broken.deb' || true
    must "it goes back" until_true 240 went_back m
    must "the one before is healthy" until_true 60 in_machine m rivulet-agent --health
    must "identity and configuration are the same" [ "$(identity m)" = "$before" ]
    must "the service of updates has failed" [ "$(in_machine m systemctl is-failed rivulet-update)" = failed ]
    in_machine m journalctl -p crit -u rivulet-update | tee "$WORK/loud"
    must "loudly" grep -q 'rivulet-agent is .*-1~.* again' "$WORK/loud"
    must "it is upgraded to a good one" in_machine m sh -c 'apt-get install -qq -y /root/debs/rivulet-agent_*-2~*.deb'
    must "which is kept" until_true 120 decided m
    must "and runs" installed m 2
}

case_goes_back() { goes_back "$1" 'exit 70'; }
case_hangs() { goes_back "$1" 'systemd-notify --ready; exec sleep 1000'; }

# Everything on the machine is killed at a moment of the upgrade: at the next start it is a whole one, of either
# version. CUTS: how often. What was written stays in the host's memory: this is not the card's part of a power cut.
case_update_power_cut() {
    local release=$1 cut pause before
    trap machines_down EXIT
    machine_with m "$release" --private-network
    configured m
    before=$(identity m)
    for cut in $(seq "${CUTS:-5}"); do
        pause=$((RANDOM % 40))
        in_machine m sh -c 'apt-get install -qq -y --reinstall --allow-downgrades /root/debs/rivulet-agent_*-'$((1 + cut % 2))'~*.deb' &
        sleep "$((pause / 10)).$((pause % 10))"
        machine_down m KILL
        wait
        machine_up m "$release" --private-network || fail "the machine boots after cut $cut, at $pause/10 s"
        must "the update is decided after cut $cut" until_true 180 decided m
        must "the agent is healthy after cut $cut" until_true 60 in_machine m rivulet-agent --health
        # Where dpkg was cut off before anything was kept, nothing shows that it is to be decided.
        must "the package is whole after cut $cut" until_true 120 whole m
        must "the update is decided after cut $cut" until_true 180 decided m
        must "its files are too" in_machine m dpkg --verify rivulet-agent
        must "identity and configuration are the same after cut $cut" [ "$(identity m)" = "$before" ]
    done
}

# Two boards over ssh: both are upgraded; then a package that does not work stops at the first.
case_fleet() {
    local release=$1
    release_build rivulet-agent rivulet
    lab_up
    host c a b
    lan 1 c a b
    ssh-keygen -q -t ed25519 -N '' -f "$LAB/key"
    local name
    for name in a b; do
        machine_with "$name" "$release" --network-namespace-path="/run/netns/$NS-$name"
        configured "$name"
        in_machine "$name" install -D -m 600 /dev/stdin /root/.ssh/authorized_keys <"$LAB/key.pub"
        in_machine "$name" systemctl start ssh
    done
    export SSH="ssh -i $LAB/key -o BatchMode=yes -o ConnectTimeout=5 -o StrictHostKeyChecking=no
        -o UserKnownHostsFile=$LAB/known"
    fleet() { ip netns exec "$NS-c" deploy/fleet.sh "$@"; }
    must "both are upgraded" fleet "$PACKAGES_FOLDER"/rivulet-agent_*-2~deb"${NUMBER[$release]}"_amd64.deb \
        root@10.77.1.2 root@10.77.1.3
    must "the first has it" installed a 2
    must "the second has it" installed b 2
    broken a 'exit 70'
    in_machine a cat /root/broken.deb >"$LAB/broken.deb"
    fleet "$LAB/broken.deb" root@10.77.1.2 root@10.77.1.3 >"$LAB/fleet" 2>&1 && fail "a broken one is called good"
    cat "$LAB/fleet"
    must "it says that the first went back" grep -q '10.77.1.2 went back to' "$LAB/fleet"
    must "it stops there" grep -q 'stopped: 0 of 2' "$LAB/fleet"
    must "the first has the one before" installed a 2
    must "the second was not touched" installed b 2
    fleet "$LAB/key.pub" root@10.77.1.2 2>"$LAB/fleet" && fail "a key is no package"
    must "it says so" grep -q 'is not a package of Rivulet' "$LAB/fleet"
    fleet "$LAB/broken.deb" "-oProxyCommand=touch $LAB/ran" 2>"$LAB/fleet" && fail "an option is no host"
    must "it says so: $(cat "$LAB/fleet")" grep -q 'is not a host' "$LAB/fleet"
    must "and runs nothing" [ ! -e "$LAB/ran" ]
}

# previous_release: folder with the programs of the newest tagged release that is not this one, built once.
previous_release() {
    [ -z "${PREVIOUS:-}" ] || { echo "$PREVIOUS"; return; }
    local tag folder
    tag=$(git describe --tags --abbrev=0 --match 'v*' HEAD^ 2>/dev/null) || return 1
    folder=$WORK/$tag
    if [ ! -x "$folder/bin/rivulet" ]; then
        mkdir -p "$folder/source"
        git archive "$tag" | tar -x -C "$folder/source"
        (cd "$folder/source" && . deploy/common.sh && release_build rivulet-agent rivulet && mkdir -p "$folder/bin" &&
            cp "$BIN/rivulet-agent" "$BIN/rivulet" "$folder/bin/") >"$folder/log" 2>&1 || return 2
    fi
    echo "$folder/bin"
}

# This version and the one before on one network: an agent, a relay and a collector, each time another of them old.
case_previous_release() {
    local old new who status=0
    old=$(previous_release) || status=$?
    [ $status != 1 ] || not_run "no release is tagged before this one"
    [ $status = 0 ] || fail "the previous release does not build"
    release_build rivulet-agent rivulet
    new=$BIN
    lab_up
    NETWORK=lab
    host c r a
    lan 1 c r
    lan 2 r a
    config c collector
    config r relay
    config a agent 'sensors: [{driver: command, run: ["/bin/echo", "21.5"], every: 200ms, name: bench}]
report: {wait: 0s}'
    all_there() {
        "$new/rivulet" query --store "$LAB/c/readings.sqlite" --format csv 2>/dev/null | sed 1d | cut -d, -f8 | sort -n |
            awk '$1 != NR { gap = 1 } END { exit gap || NR < 30 }'
    }
    for who in c r a; do
        local -A at=([c]=$new [r]=$new [a]=$new)
        at[$who]=$old
        rm -rf "$LAB/c"
        start service c "${at[c]}/rivulet" collect --config "$LAB/c.yaml" --format csv
        start relay r "${at[r]}/rivulet-agent" --config "$LAB/r.yaml"
        start agent a "${at[a]}/rivulet-agent" --config "$LAB/a.yaml"
        must "with $who of the release before, all readings arrive" until_true 90 all_there
        stop "$agent"
        stop "$relay"
        stop "$service"
    done
}
