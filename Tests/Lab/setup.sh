# Sourced by run.sh and boot.sh: what the virtual machine is made of, in $CACHE. All of it can be
# made again. A function here that fails leaves in $WHY what could not be had.

CACHE=${LAB_CACHE:-$TOP/.build-lab}
KEYS=/usr/share/keyrings/debian-archive-keyring.gpg

MACHINE_PACKAGES=(qemu-system-x86 busybox-static kmod cpio xz-utils zstd "${NETWORK_PACKAGES[@]}")
BLUETOOTH_PACKAGES=(bluez gcc libc6-dev)
WIFI_PACKAGES=(iw wpasupplicant iputils-ping)

# have PACKAGE…: installs what is missing, and says so.
have() {
    (need "$@") 2>"$CACHE/apt.log" && return
    WHY=$(tail -n 1 "$CACHE/apt.log")
    return 1
}

# download PACKAGE: its newest .deb into $CACHE/debs.
download() {
    mkdir -p "$CACHE/debs"
    (cd "$CACHE/debs" && rm -f "$1"_*.deb && timeout 300 apt-get -qq download "$1" 2>/dev/null) ||
        (cd "$CACHE/debs" && one_at_a_time apt-get -qq update && timeout 300 apt-get -qq download "$1") || {
        WHY="no package $1 to be downloaded"
        return 1
    }
}

# kernel_release: of the kernel that linux-image-amd64 stands for today.
kernel_release() {
    apt-cache depends linux-image-amd64 2>/dev/null |
        sed -n 's/^ *Depends: linux-image-\([0-9].*-amd64\)$/\1/p' | head -1
}

# setup_machine: kernel, modules and initramfs.
setup_machine() {
    [ "$(dpkg --print-architecture 2>/dev/null)" = amd64 ] || {
        WHY="the virtual machine wants a Debian machine of the architecture amd64"
        return 1
    }
    have "${MACHINE_PACKAGES[@]}" && setup_kernel && setup_initramfs
}

# setup_kernel: Debian's own, unpacked and not installed: installing would change how this machine
# boots.
setup_kernel() {
    RELEASE=$(cat "$CACHE/release" 2>/dev/null) && return
    RELEASE=$(kernel_release)
    [ -n "$RELEASE" ] || { one_at_a_time apt-get -qq update && RELEASE=$(kernel_release); }
    [ -n "$RELEASE" ] || {
        WHY="apt knows no package linux-image-amd64"
        return 1
    }
    echo "kernel: linux-image-$RELEASE"
    download "linux-image-$RELEASE" || return
    rm -rf "$CACHE/kernel"
    mkdir -p "$CACHE/kernel"
    dpkg -x "$CACHE/debs/linux-image-$RELEASE"_*.deb "$CACHE/kernel"
    # Newer packages have usr/lib/modules; depmod looks in lib.
    [ -d "$CACHE/kernel/lib" ] || ln -s usr/lib "$CACHE/kernel/lib"
    depmod -b "$CACHE/kernel" "$RELEASE"
    extract_kernel "$CACHE/kernel/boot/vmlinuz-$RELEASE" >"$CACHE/vmlinux" || {
        WHY="cannot unpack the kernel of linux-image-$RELEASE"
        return 1
    }
    echo "$RELEASE" >"$CACHE/release"
}

# extract_kernel FILE: the uncompressed kernel inside, which QEMU starts as it is: an emulated
# processor would unpack it for two seconds. Where it lies: the kernel's
# Documentation/arch/x86/boot.rst, setup_sects, payload_offset and payload_length.
extract_kernel() {
    local sectors offset length
    sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$1")
    offset=$(od -An -tu4 -j $((0x248)) -N 4 "$1")
    length=$(od -An -tu4 -j $((0x24c)) -N 4 "$1")
    [ "$sectors" -gt 0 ] || sectors=4
    offset=$(((sectors + 1) * 512 + offset))
    payload() { dd "if=$1" bs=1M iflag=skip_bytes,count_bytes skip=$offset "count=$2" status=none; }
    case $(od -An -tx1 -j $offset -N 4 "$1" | tr -d ' ') in
        fd377a58) payload "$1" "$length" | xz --single-stream -dc ;;
        # Four bytes after the compressed data tell its size.
        28b52ffd) payload "$1" $((length - 4)) | zstd -dc ;;
        *) return 1 ;;
    esac
}

# setup_initramfs: busybox and the modules that mounting the root takes, 1.5 MB.
setup_initramfs() {
    [ "$CACHE/initramfs.gz" -nt Tests/Lab/initramfs-init ] &&
        [ "$CACHE/initramfs.gz" -nt "$CACHE/release" ] && return
    local root=$CACHE/initramfs module file
    rm -rf "$root"
    mkdir -p "$root"/{bin,proc,sys,dev,lower,rw,new,mod}
    cp /bin/busybox "$root/bin/busybox"
    cp Tests/Lab/initramfs-init "$root/init"
    chmod +x "$root/init"
    for module in virtio_pci 9pnet_virtio 9p overlay virtio_console virtio_rng; do
        # With what each of them needs, in the order of loading.
        modprobe -d "$CACHE/kernel" -S "$RELEASE" --show-depends $module | sed -n 's/^insmod //p' |
            while read -r file _; do
                grep -qxF "$(basename "${file%.xz}")" "$root/mod/order" 2>/dev/null && continue
                case $file in
                    *.xz) xz -dc "$file" >"$root/mod/$(basename "${file%.xz}")" ;;
                    *) cp "$file" "$root/mod/" ;;
                esac
                basename "${file%.xz}" >>"$root/mod/order"
            done
    done
    (cd "$root" && find . | cpio -o -H newc --quiet) | gzip -1 >"$CACHE/initramfs.gz" && return
    WHY="could not make the initramfs"
    return 1
}

# setup_bluetooth: the emulator of controllers.
setup_bluetooth() {
    have "${BLUETOOTH_PACKAGES[@]}" || return
    [ "$CACHE/btvirt" -nt Tests/Lab/btvirt.sed ] && return
    build_btvirt >"$CACHE/btvirt.log" 2>&1 && return
    WHY="no emulated controllers: $(tail -n 1 "$CACHE/btvirt.log")"
    return 1
}

# build_btvirt: from Debian 13's source package on Debian 12 too, whose own emulator advertises once
# and not over and over; and mended, so that controllers can have several links (btvirt.sed).
build_btvirt() {
    local suite=trixie source=$CACHE/bluez
    rm -rf "$source"
    mkdir -p "$source/lists/partial"
    echo "deb-src [signed-by=$KEYS] $(debian_mirror) $suite main" >"$source/sources.list"
    # With lists of its own: this machine's apt stays as it is.
    local apt=(apt-get -qq -o "Dir::Etc::SourceList=$source/sources.list"
        -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$source/lists"
        -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
    (
        cd "$source" || exit
        "${apt[@]}" update && "${apt[@]}" source --download-only bluez &&
            tar -xf bluez_*.orig.tar.* && cd bluez-*/ ||
            { echo "no source package bluez to be downloaded"; exit 1; }
        sed -i -f "$TOP/Tests/Lab/btvirt.sed" emulator/btdev.c
        grep -q 'queue_find(remote->conns, match_handle, UINT_TO_PTR(handle))' emulator/btdev.c &&
            [ "$(grep -Ec 'links_full\(dev, remote\)|conns, conn_lost' emulator/btdev.c)" = 3 ] ||
            { echo "the sources of bluez have changed: btvirt.sed does not fit"; exit 1; }
        gcc -O1 -w -D_GNU_SOURCE -DVERSION='"lab"' -I. -Ilib -o "$CACHE/btvirt.new" \
            emulator/{main,serial,server,vhci,btdev,phy,le}.c \
            src/shared/{mainloop,mainloop-notify,io-mainloop,timeout-mainloop}.c \
            src/shared/{util,queue,crypto,ecc}.c lib/{bluetooth,hci}.c
    ) || return
    mv "$CACHE/btvirt.new" "$CACHE/btvirt"
    rm -rf "$source"
}

setup_relay() { setup_bluetooth && setup_wifi; }

setup_wifi() { have "${WIFI_PACKAGES[@]}"; }

# setup_sensors: what Debian's kernel has not: gpio-sim, from the kernel's own source, and a 1-Wire
# bus with thermometers on it (modules/w1_sim.c), built for the guest's kernel.
setup_sensors() {
    setup_machine && setup_bluetooth || return
    local built=$CACHE/kernel/lib/modules/$RELEASE/extra/w1_sim.ko
    have gpiod i2c-tools || return
    [ "$built" -nt Tests/Lab/modules/w1_sim.c ] && return
    have make "linux-headers-$RELEASE" || {
        WHY="no headers for the kernel $RELEASE; remove .build-lab to take today's kernel"
        return 1
    }
    build_modules >"$CACHE/modules.log" 2>&1 && return
    WHY="the kernel modules could not be built: $(tail -n 1 "$CACHE/modules.log")"
    return 1
}

build_modules() {
    local folder=$CACHE/modules extra=$CACHE/kernel/lib/modules/$RELEASE/extra modules=w1_sim.o
    rm -rf "$folder"
    mkdir -p "$folder" "$extra"
    cp Tests/Lab/modules/w1_sim.c "$folder/"
    if ! modinfo -b "$CACHE/kernel" -k "$RELEASE" gpio-sim >/dev/null 2>&1; then
        unpack_gpio_sim "$folder" || return
        modules="$modules irq_sim.o gpio-sim.o"
    fi
    echo "obj-m := $modules" >"$folder/Makefile"
    make -s -C "/usr/src/linux-headers-$RELEASE" "M=$folder" modules || return
    cp "$folder"/*.ko "$extra/" && depmod -b "$CACHE/kernel" "$RELEASE"
}

# unpack_gpio_sim FOLDER: three files of the kernel's source, whose package has 140 MB.
unpack_gpio_sim() {
    local package file
    package=linux-source-$(echo "$RELEASE" | cut -d. -f1-2)
    download "$package" || { echo "$WHY"; return 1; }
    dpkg --fsys-tarfile "$CACHE/debs/$package"_*.deb | tar -xO "./usr/src/$package.tar.xz" |
        tar -xJ -C "$1" --strip-components=1 "$package"/drivers/gpio/{gpio-sim.c,gpiolib.h} \
            "$package/kernel/irq/irq_sim.c" || return
    rm -f "$CACHE/debs/$package"_*.deb
    for file in drivers/gpio/gpio-sim.c drivers/gpio/gpiolib.h kernel/irq/irq_sim.c; do
        mv "$1/$file" "$1/"
    done
    # irq_to_desc() is not there for modules; this does the same from where it is called.
    sed -i 's/handle_simple_irq(irq_to_desc(irqnum))/generic_handle_irq(irqnum)/
        1i #include <linux/module.h>' "$1/irq_sim.c"
    echo 'MODULE_LICENSE("GPL");' >>"$1/irq_sim.c"
}
