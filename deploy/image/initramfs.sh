#!/usr/bin/env bash
# Run by build-image.sh: `hold ROOT` keeps packages from doing what would be done for nothing, such as packing an
# initramfs each; `make ROOT` packs it once, which also fills the boot partition's folder.
set -euo pipefail
root=$2
real=$root/usr/sbin/update-initramfs
case $1 in
hold)
    chroot "$root" dpkg-divert --quiet --local --rename --add /usr/sbin/update-initramfs
    ln -s /usr/bin/true "$real"
    # Each board makes its own key for ssh; three for nobody would take half a minute.
    mkdir -p "$root/etc/ssh"
    touch "$root"/etc/ssh/ssh_host_{rsa,ecdsa,ed25519}_key
    # Links into /boot/firmware cannot be made; and no links are wanted.
    echo 'do_symlinks = no' >"$root/etc/kernel-img.conf"
    ;;
make)
    rm "$real"
    chroot "$root" dpkg-divert --quiet --local --rename --remove /usr/sbin/update-initramfs
    # What is mounted is the initramfs's business: it packs the check of this file system.
    cp deploy/image/fstab "$root/etc/fstab"
    chroot "$root" update-initramfs -c -k all
    ls -l "$root/boot/firmware"
    ;;
esac
