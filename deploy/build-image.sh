#!/usr/bin/env bash
# Makes a card for Raspberry Pi Zero 2 W, 3, 4, 400 and 5, of Debian 13's packages and ours, as root; no loop devices,
# no virtual machine. deploy/image.md tells what is in it and why.
#
# deploy/build-image.sh --board rpi [options]
#   --config FILE      the configuration, checked first; otherwise an example that awaits a secret
#   --secret FILE      the network's secret
#   --wifi SSID        asks for the passphrase, or takes a line of standard input; needs --country
#   --country DE       where the board is: it decides which Wi-Fi channels may be used
#   --ssh-key FILE     a public key that may log in as root
#   --password-file FILE  a password for root on a screen or serial console (- asks); without it there is none
#   --packages DIR     where our packages for arm64 are, otherwise .build-packages, where they are made
#   --kernel stable    Debian 13's own kernel, which does not start a Pi 5, in place of the one from trixie-backports
#   --output FILE      otherwise rivulet-rpi.img; with .xz at the end it is compressed
set -euo pipefail
. "$(dirname "$0")/common.sh"
BUILD=$TOP/.build-image
ROOT_PACKAGES=systemd-sysv,udev,dbus,kmod,initramfs-tools,zstd,linux-image-arm64,raspi-firmware,firmware-brcm80211
ROOT_PACKAGES+=,bluez-firmware,wireless-regdb,wpasupplicant,systemd-resolved,systemd-timesyncd,openssh-server
ROOT_PACKAGES+=,iproute2,fdisk,dosfstools,e2fsprogs,login
ROOT_PACKAGES+=,libavahi-client3,libssl3t64,libyaml-0-2,libsqlite3-0,libqrencode4,libstdc++6,libgpiod3
ROOT_PACKAGES+=,libcurl4t64,libpq5,libnats3.10,libmosquitto1,libmicrohttpd12t64
# Sizes in MiB. Kernels are twice on the boot partition while one follows the other.
BOOT_SIZE=256
SPARE_ROOT=400
VAR_SIZE=256

board='' config='' secret='' wifi='' country='' ssh_key='' password_file='' kernel=backports
packages=$TOP/.build-packages output=$TOP/rivulet-rpi.img
CALLER=$OLDPWD
while [ $# -gt 0 ]; do
    case $1 in
    --help) sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    --board | --config | --secret | --wifi | --country | --ssh-key | --password-file | --packages | --kernel | --output)
        [ $# -ge 2 ] || die "$1 wants a value"
        name=${1#--} value=$2
        # Files are meant from where the command was given.
        case $1 in
        --config | --secret | --ssh-key | --packages | --output | --password-file)
            [[ $value = /* || $value = - ]] || value=$CALLER/$value
            ;;
        esac
        declare "${name//-/_}=$value"
        shift 2
        ;;
    *) die "unknown option $1; deploy/build-image.sh --help lists them" ;;
    esac
done

# check_arguments: what is wrong is told before minutes of work.
check_arguments() {
    [ "$board" = rpi ] || die "--board must be rpi (Raspberry Pi Zero 2 W, 3, 4, 400, 5). Other 64-bit boards: put our
packages on the system that their maker or Armbian has for them."
    [[ $kernel = stable || $kernel = backports ]] || die "--kernel must be stable or backports"
    [[ $output = *.img || $output = *.img.xz ]] || die "--output must end in .img or .img.xz, for deploy/flash.sh"
    [ -d "$(dirname "$output")" ] || die "--output: there is no folder $(dirname "$output")"
    local file
    for file in "$config" "$secret" "$ssh_key"; do
        [ -z "$file" ] || [ -f "$file" ] || die "no such file: $file"
    done
    [ -z "$ssh_key" ] || ssh-keygen -l -f "$ssh_key" >/dev/null 2>&1 || die "$ssh_key is not a public key"
    [ -z "$ssh_key" ] || ! grep -q 'PRIVATE KEY' "$ssh_key" || die "$ssh_key is the private key; give its .pub"
    [ -z "$wifi" ] || [[ $country =~ ^[A-Za-z]{2}$ ]] || die "--wifi needs --country, two letters such as DE"
    [ "$(printf %s "$wifi" | wc -c)" -le 32 ] || die "--wifi: a network's name has 32 bytes at most"
    passphrase='' password=''
    [ -z "$wifi" ] || passphrase=$(ask "passphrase of the Wi-Fi network $wifi")
    # In bytes, as wpa_supplicant counts; 64 hexadecimal digits are the key that others derive from it.
    local bytes
    bytes=$(printf %s "$passphrase" | wc -c)
    [ -z "$wifi" ] || [[ $bytes -ge 8 && $bytes -le 63 || $passphrase =~ ^[0-9a-fA-F]{64}$ ]] ||
        die "a passphrase has 8 to 63 characters (ä counts as two), and this one $bytes"
    [[ $wifi$passphrase != *[[:cntrl:]]* ]] || die "--wifi: no tabs, line ends and other control characters"
    [ "$password_file" != - ] || password=$(ask "password of root")
    [[ -z $password_file || $password_file = - ]] || password=$(ask "the password" <"$password_file")
    [ -z "$password_file" ] || [ -n "$password" ] || die "the password is empty"
}

# ask WHAT: a line from the terminal, unseen, or of standard input.
ask() {
    local answer
    if [ -t 0 ]; then
        IFS= read -rsp "$1: " answer && echo >&2
    else
        IFS= read -r answer || [ -n "$answer" ] || die "$1: nothing on standard input"
    fi
    printf %s "${answer%$'\r'}"
}

# find_packages: ours for arm64; made first where none are named and none are there.
find_packages() {
    local newest=() name
    [ "$packages" != "$TOP/.build-packages" ] || compgen -G "$packages/rivulet-agent_*_arm64.deb" >/dev/null ||
        deploy/build-packages.sh arm64
    for name in rivulet-agent rivulet; do
        mapfile -t newest < <(ls -t "$packages/${name}"_*_arm64.deb 2>/dev/null)
        [ ${#newest[@]} -gt 0 ] || die "no ${name}_…_arm64.deb in $packages; deploy/build-packages.sh arm64 makes it"
        debs+=("${newest[0]}")
    done
}

# foreign_programs: arm64's programs run here, by emulation where need be.
foreign_programs() {
    [ "$(dpkg --print-architecture)" != arm64 ] || return 0
    need qemu-user-static binfmt-support arch-test
    mountpoint -q /proc/sys/fs/binfmt_misc || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    [ -e /proc/sys/fs/binfmt_misc/qemu-aarch64 ] || update-binfmts --enable qemu-aarch64
}

# make_root: Debian for arm64 in $BUILD/root, kept until what it is made of changes. Each package that has a part in
# the initramfs would pack it anew, for minutes: `update-initramfs` is a stand-in until the end.
make_root() {
    local stamp mirror
    stamp=$(echo "$ROOT_PACKAGES $kernel"; cd deploy/image/early && find . -type f | sort | xargs sha256sum)
    [ "$(cat "$BUILD/root.stamp" 2>/dev/null)" != "$stamp" ] || return 0
    echo "making a Debian 13 for arm64 in .build-image (some minutes; log in .build-image/root.log)"
    mkdir -p "$BUILD"
    rm -rf --one-file-system "$BUILD/root" "$BUILD/root.stamp"
    mirror=$(debian_mirror) || true
    mirror=${mirror:-http://deb.debian.org/debian}
    local components='main non-free-firmware'
    mmdebstrap --mode=root --variant=apt --keyring="$DEBIAN_KEYS" --architectures=arm64 \
        --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io \
        --include="$ROOT_PACKAGES" \
        --setup-hook="cp -a --no-preserve=ownership deploy/image/early/. \"\$1/\"" \
        --setup-hook="mkdir -p \"\$1/boot/firmware\"" \
        --setup-hook="[ $kernel = backports ] || rm \"\$1/etc/apt/preferences.d/kernel\"" \
        --essential-hook="bash deploy/image/initramfs.sh hold \"\$1\"" \
        --customize-hook="bash deploy/image/initramfs.sh make \"\$1\"" \
        trixie "$BUILD/root" "deb $mirror trixie $components" "deb $mirror trixie-backports $components" \
        >"$BUILD/root.log" 2>&1 || { tail -n 20 "$BUILD/root.log" >&2; die "the root could not be made"; }
    echo "$stamp" >"$BUILD/root.stamp"
}

# make_system: a copy of the root with our packages and settings, in $BUILD/system, $BUILD/var and $BUILD/firmware.
make_system() {
    local stamp system=$BUILD/system
    stamp=$(cat "$BUILD/root.stamp"; cat "${debs[@]}" | sha256sum; find deploy/image -type f | sort | xargs sha256sum)
    if [ "$(cat "$BUILD/system.stamp" 2>/dev/null)" != "$stamp" ]; then
        rm -rf --one-file-system "$system" "$BUILD/var" "$BUILD/firmware" "$BUILD/system.stamp"
        cp -a --reflink=auto "$BUILD/root" "$system"
        echo "installing ${debs[*]##*/}"
        cp "${debs[@]}" "$system/root/"
        # No service is started in there.
        chroot "$system" env DEBIAN_FRONTEND=noninteractive sh -c 'dpkg -i /root/*.deb && rm /root/*.deb' \
            >"$BUILD/system.log" 2>&1 || { tail -n 20 "$BUILD/system.log" >&2; die "our packages do not install"; }
        bash deploy/image/settle.sh "$system"
        # What has partitions of its own.
        mv "$system/var" "$BUILD/var"
        mv "$system/boot/firmware" "$BUILD/firmware"
        mkdir "$system/var" "$system/boot/firmware"
        echo "$stamp" >"$BUILD/system.stamp"
    fi
    # No password unless one was asked for, also where the last image had one.
    local hash='*'
    [ -z "$password" ] || hash=$(openssl passwd -6 -stdin <<<"$password")
    sed -i "s#^root:[^:]*:#root:$hash:#" "$system/etc/shadow"
}

# check_config: by the program that will read it. Without a secret of its own it gets one for the moment.
check_config() {
    [ -n "$config$secret" ] || return 0
    local there=$BUILD/system/var/lib/rivulet-config/current said status=0
    mkdir -p "$there"
    (
        umask 077
        cp "${config:-deploy/image/card/rivulet.yaml}" "$there/config.yaml"
        if [ -n "$secret" ]; then
            cp "$secret" "$there/secret"
        else
            in_system rivulet secret >"$there/secret"
        fi
        sed -i -e '1s/^\xef\xbb\xbf//' -e 's/\r$//' "$there"/*
    )
    said=$(in_system rivulet check /etc/rivulet/config.yaml 2>&1) || status=$?
    rm -rf "$BUILD/system/var/lib"
    echo "${said//\/etc\/rivulet\/config.yaml/${config:-rivulet.yaml}}" | sed "s#/etc/rivulet/secret#$secret#"
    [ $status = 0 ] || die "put that right first"
}

# in_system COMMAND…: in the root, with /proc, where programs find their arguments.
in_system() {
    # shellcheck disable=SC2016
    unshare --mount sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$BUILD/system" "$@"
}

# boot_partition FILE: what the board's firmware reads, and what everybody may edit.
boot_partition() {
    truncate -s ${BOOT_SIZE}M "$1"
    mkfs.vfat -F 32 -s 2 -n RIVULET "$1" >/dev/null
    mcopy -i "$1" -s "$BUILD"/firmware/* ::/
    mmd -i "$1" -D s ::/overlays 2>/dev/null || true
    local source
    for source in deploy/image/overlays/*.dts; do
        dtc -q -@ -I dts -O dtb "$source" | mcopy -o -i "$1" - "::/overlays/$(basename "$source" .dts).dtbo"
    done
    mcopy -i "$1" deploy/image/card/README.txt ::/README.txt
    echo "board: $board" | mcopy -i "$1" - ::/rivulet-image.txt
    mcopy -i "$1" "${config:-deploy/image/card/rivulet.yaml}" ::/rivulet.yaml
    [ -z "$secret" ] || mcopy -i "$1" "$secret" ::/secret
    [ -z "$ssh_key" ] || mcopy -i "$1" "$ssh_key" ::/authorized_keys
    [ -z "$wifi" ] || printf 'ssid=%s\npassphrase=%s\ncountry=%s\n' "$wifi" "$passphrase" "$country" |
        mcopy -i "$1" - ::/wifi.txt
}

# assemble FILE: three partitions, written where they will lie.
assemble() {
    local root_size at_root at_var sectors=2048
    root_size=$(($(du -sm "$BUILD/system" | cut -f 1) + SPARE_ROOT))
    at_root=$((4 + BOOT_SIZE))
    at_var=$((at_root + root_size))
    rm -f "$1"
    truncate -s $((at_var + VAR_SIZE))M "$1"
    sfdisk --quiet "$1" <<TABLE
label: dos
start=$((4 * sectors)), size=$((BOOT_SIZE * sectors)), type=c, bootable
start=$((at_root * sectors)), size=$((root_size * sectors)), type=83
start=$((at_var * sectors)), size=$((VAR_SIZE * sectors)), type=83
TABLE
    boot_partition "$BUILD/boot.img"
    dd if="$BUILD/boot.img" of="$1" bs=1M seek=4 conv=notrunc,sparse status=none
    rm -f "$BUILD/boot.img"
    # Nothing is left for the kernel to initialise on the card.
    local whole=lazy_itable_init=0,lazy_journal_init=0
    mke2fs -q -F -t ext4 -L rivulet-root -d "$BUILD/system" -E offset=$((at_root * 1048576)),$whole "$1" ${root_size}M
    # Few files, and room for growth to the card's end.
    mke2fs -q -F -t ext4 -L rivulet-var -b 4096 -i 65536 -d "$BUILD/var" -E offset=$((at_var * 1048576)),$whole \
        "$1" ${VAR_SIZE}M
    echo "root: $(du -sm "$BUILD/system" | cut -f 1) MB and $(du -sm "$BUILD/var" | cut -f 1) MB in /var;" \
        "image: $((at_var + VAR_SIZE)) MiB"
}

debs=()
check_arguments
need_root
exec 9>"$BUILD.lock"
flock -n 9 || die "deploy/build-image.sh is at work here already; wait until it is done"
need mmdebstrap debian-archive-keyring mtools dosfstools e2fsprogs fdisk device-tree-compiler xz-utils openssl
find_packages
foreign_programs
make_root
make_system
check_config
image=${output%.xz}
# The network's secret, the passphrase and a password may be in it.
umask 077
assemble "$image.new"
if [ "$image" != "$output" ]; then
    xz -T0 -3 -c "$image.new" >"$output.new"
    rm "$image.new"
    mv "$output.new" "$output"
else
    mv "$image.new" "$image"
fi
[ -z "${SUDO_UID:-}" ] || chown "$SUDO_UID:$SUDO_GID" "$output"
echo "$output: $(($(stat -c %s "$output") / 1000000)) MB; write it with deploy/flash.sh ${output#"$TOP/"} /dev/…"
