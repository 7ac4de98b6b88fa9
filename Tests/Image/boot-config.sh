# Sourced by image.sh: what boot-config makes of the boot partition's files, in a folder, without a board.

# open_boot: $BOOT is the boot partition, $ETC what the agent would read.
open_boot() {
    FOLDER=$(mktemp -d /tmp/rb.XXXXXX)
    trap 'rm -rf "$FOLDER"' EXIT
    BOOT=$FOLDER/boot ETC=$FOLDER/etc
    mkdir "$BOOT"
    ln -s "$FOLDER/store/current" "$ETC"
    (umask 077 && "$BIN/rivulet" secret >"$FOLDER/secret")
}

take_over() {
    PATH=$BIN:$PATH RIVULET_BOOT=$BOOT RIVULET_STORE=$FOLDER/store RIVULET_ETC=$ETC RIVULET_OWNER=root \
        RIVULET_HOSTNAME=$FOLDER/hostname RIVULET_UNITS=$FOLDER/units \
        deploy/image/root/usr/lib/rivulet-image/boot-config
}

# yaml NAME [ROLE]: a configuration; the secret's place is the test's own.
yaml() { printf 'name: %s\nsecret-file: %s\nrole: %s\nnetwork: lab\n' "$1" "$ETC/secret" "${2:-relay}"; }

# is NAME: that configuration is the one in use, and whole.
is() {
    "$BIN/rivulet" check "$ETC/config.yaml" >"$FOLDER/said" 2>&1 || { cat "$FOLDER/said"; return 1; }
    grep -q " $1 in network lab" "$FOLDER/said"
}

# told WORDS: in the file beside the mistake.
told() {
    cat "$BOOT/rivulet.yaml.error.txt"
    grep -qF "$1" "$BOOT/rivulet.yaml.error.txt"
}

case_boot_config_takes_over_and_removes_the_secret() {
    open_boot
    must "nothing to take over is no mistake" take_over
    [ ! -e "$BOOT/rivulet.yaml.error.txt" ] || fail "a mistake without files"
    yaml 'Barn 2' >"$BOOT/rivulet.yaml"
    cp "$FOLDER/secret" "$BOOT/"
    : >"$BOOT/remove-secret"
    take_over
    must "taken over" is 'Barn 2'
    [ "$(cat "$FOLDER/hostname")" = barn-2 ] || fail "the host name is $(cat "$FOLDER/hostname")"
    [ ! -e "$BOOT/secret" ] || fail "the secret is still there"
    [ "$(stat -Lc %a "$ETC/secret" "$ETC/config.yaml" | sort -u)" = 600 ] || fail "others can read them"
    yaml 温室 >"$BOOT/rivulet.yaml"
    take_over
    grep -qx 'rivulet-[0-9a-z]\{6\}' "$FOLDER/hostname" || fail "the host name is $(cat "$FOLDER/hostname")"
    yaml 'Barn 2' >"$BOOT/rivulet.yaml"
    take_over
    # What was changed on the board stays until the card changes.
    sed -i 's/Barn 2/hand/' "$ETC/config.yaml"
    take_over
    must "a change by hand stays" is hand
    yaml west >"$BOOT/rivulet.yaml"
    take_over
    must "the card's change counts" is west
}

case_boot_config_keeps_the_last_good_one() {
    open_boot
    yaml north >"$BOOT/rivulet.yaml"
    take_over
    must "a missing secret is told" told 'rivulet.yaml:2:14: there is no secret'
    echo 'rvs1-aaaaa-aaaaa' >"$BOOT/secret"
    take_over
    must "a wrong secret is told" told 'the secret file secret: line 1: a character is mistyped'
    must "and that nothing runs" told 'has no configuration yet'
    cp "$FOLDER/secret" "$BOOT/secret"
    take_over
    must "taken over" is north
    [ ! -e "$BOOT/rivulet.yaml.error.txt" ] || fail "the mistakes are still told"
    yaml south | sed 's/role/rolle/' >"$BOOT/rivulet.yaml"
    take_over
    must "a mistake is told" told 'rivulet.yaml:3:1: unknown key rolle'
    must "the last good one stays" is north
    printf 'ssid=\npassphrase=short\n' >"$BOOT/wifi.txt"
    echo hello >"$BOOT/authorized_keys"
    yaml south >"$BOOT/rivulet.yaml"
    take_over
    must "what is right is taken in spite of other mistakes" is south
    must "Wi-Fi: the name" told 'ssid= must have 1 to 32 bytes, and has 0'
    must "Wi-Fi: the passphrase" told 'passphrase= must have 8 to 63 characters (ä counts as two), and has 5'
    must "keys" told 'authorized_keys: no public key'
    ssh-keygen -q -t ed25519 -N '' -f "$FOLDER/key"
    cp "$FOLDER/key" "$BOOT/authorized_keys"
    take_over
    must "a private key" told 'this is the private key'
    printf 'ssid=lab\npassphrase=%s\tä\ncountry=DE\n' "$(printf 'ä%.0s' {1..31})" >"$BOOT/wifi.txt"
    take_over
    must "Wi-Fi: bytes count" told 'and has 65'
    must "Wi-Fi: control characters" told 'has a tab'
    [ ! -e "$ETC/wpa_supplicant.conf" ] || fail "half a Wi-Fi"
}

case_boot_config_reads_what_other_editors_write() {
    open_boot
    { printf '\xef\xbb\xbf'; yaml bom | sed 's/$/\r/'; } >"$BOOT/rivulet.yaml"
    { sed 's/$/\r/' "$FOLDER/secret"; } >"$BOOT/secret.txt"
    printf 'ssid=Wi Fi "ä"\r\npassphrase=with "quotes"\r\ncountry=de\r\n' >"$BOOT/wifi.txt"
    take_over
    must "a byte order mark and Windows' line ends" is bom
    ! grep -q $'\r' "$ETC/config.yaml" "$ETC/secret" "$ETC/wpa_supplicant.conf" || fail "line ends of Windows"
    must "the network's name" grep -qx '    ssid=57692046692022c3a422' "$ETC/wpa_supplicant.conf"
    must "the passphrase" grep -qx '    psk="with "quotes""' "$ETC/wpa_supplicant.conf"
    rm "$BOOT/rivulet.yaml"
    yaml wide | sed 's/$/\r/' | iconv -t UTF-16 >"$BOOT/rivulet.yaml.txt"
    take_over
    must "UTF-16, and a name with .txt" is wide
    yaml other >"$BOOT/rivulet.yml"
    take_over
    must "one of two files counts" is wide
    must "which is told" told 'rivulet.yaml.txt counts, and rivulet.yml beside it does not'
    rm "$BOOT/rivulet.yml"
    head -c 100000 /dev/urandom >"$BOOT/rivulet.yaml.txt"
    take_over
    must "bytes of anything are a mistake" is wide
    must "which is told" told 'rivulet.yaml'
}

# What cannot be written whole is left; what was there stays, also where only another file has changed.
case_boot_config_leaves_what_is_there_on_a_full_card() {
    open_boot
    mkdir "$FOLDER/store"
    trap 'umount "$FOLDER/store"; rm -rf "$FOLDER"' EXIT
    mount -t tmpfs -o size=96k tmpfs "$FOLDER/store"
    yaml north >"$BOOT/rivulet.yaml"
    cp "$FOLDER/secret" "$BOOT/"
    take_over
    printf 'ssid=lab\npassphrase=12345678\ncountry=DE\n' >"$BOOT/wifi.txt"
    { yaml south; yes '# and a long remark' | head -n 2000; echo 'links: {avahi: off}'; } >"$BOOT/rivulet.yaml"
    local free
    for free in 9 6 3 1 0; do
        head -c $(((19 - free) * 4096)) /dev/zero >"$FOLDER/store/full" || true
        take_over
        must "the old one stays with $free pages free" is north
        must "this is told" told 'Is it full'
    done
    rm "$FOLDER/store/full" "$BOOT/rivulet.yaml.error.txt"
    yaml south >"$BOOT/rivulet.yaml"
    take_over
    must "with room again, it is taken over" is south
    [ ! -e "$BOOT/rivulet.yaml.error.txt" ] || fail "the mistakes are still told"
}

# Killed at twenty moments from its begin to its end, it leaves the old or the new one.
case_boot_config_is_old_or_new_after_a_kill() {
    open_boot
    yaml v0 >"$BOOT/rivulet.yaml"
    cp "$FOLDER/secret" "$BOOT/"
    local n old=0 new=0 process started took
    started=$(date +%s%N)
    take_over
    # The moments lie within what it takes here.
    took=$((($(date +%s%N) - started) / 1000000))
    for ((n = 1; n <= 20; n++)); do
        is v$((n - 1)) || fail "round $n does not begin with the round before"
        yaml v$n >"$BOOT/rivulet.yaml"
        set -m
        take_over >/dev/null 2>&1 &
        process=$!
        set +m
        sleep "$(printf '%d.%03d' $((n * took / 20000)) $((n * took / 20 % 1000)))"
        kill -9 -- -$process 2>/dev/null
        wait $process 2>/dev/null
        if is v$((n - 1)); then
            old=$((old + 1))
        elif is v$n; then
            new=$((new + 1))
        else
            fail "half of one: round $n"
        fi
        take_over
        must "the next start takes it over" is v$n
        [ "$(find "$FOLDER/store" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] ||
            fail "something is left: $(ls "$FOLDER/store")"
    done
    [[ $old -gt 0 ]] || fail "no kill was early enough to tell"
    measured "20 kills: $old times the old one, $new times the new one"
}

# The root as deploy/build-image.sh settles it, out of one that is nearly empty.
case_boot_config_has_a_root_where_updates_are_synced() {
    open_boot
    local root=$FOLDER/root
    mkdir -p "$root/etc/dpkg/dpkg.cfg.d" "$root/etc/apt" "$root/usr/lib"
    echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/99mmdebstrap"
    must "it is settled" bash deploy/image/settle.sh "$root"
    ! grep -rq unsafe-io "$root/etc/dpkg" || fail "dpkg does not sync what it installs"
}
