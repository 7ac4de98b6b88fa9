#!/usr/bin/env bash
# Run by build-image.sh: `settle.sh ROOT` puts the image's own files and settings into a root with all packages.
set -euo pipefail
root=$1
unit_links=$root/etc/systemd/system
cp -a --no-preserve=ownership deploy/image/root/. "$root/"
cp deploy/image/fstab "$root/etc/fstab"
chmod 755 "$root"/usr/lib/rivulet-image/*
# Each board gets a number and keys of its own at its first start.
: >"$root/etc/machine-id"
rm -f "$root"/etc/ssh/ssh_host_* "$root/etc/hostname" "$root/var/lib/dbus/machine-id"
ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"
# The link is turned over by boot-config; nothing of it is on the root.
rm -rf "$root/etc/rivulet"
ln -s /var/lib/rivulet-config/current "$root/etc/rivulet"
link() { mkdir -p "$unit_links/$2.wants" && ln -sf "/usr/lib/systemd/system/$1" "$unit_links/$2.wants/${3:-$1}"; }
link rivulet-boot-config.service sysinit.target
link rivulet-prepare-card.service sysinit.target
link rivulet-collector.service multi-user.target
link systemd-networkd.service multi-user.target
link wpa_supplicant@.service sys-subsystem-net-devices-wlan0.device wpa_supplicant@wlan0.service
ln -sf /usr/lib/systemd/system/multi-user.target "$unit_links/default.target"
# mmdebstrap leaves its own options there, force-unsafe-io among them: an update that the power cuts off would leave
# empty files.
rm -f "$root/etc/dpkg/dpkg.cfg.d/99mmdebstrap"
# What would write to the card for nothing, or to the root, which is read-only.
for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer \
    wpa_supplicant.service e2scrub_reap.service sshd-keygen.service; do
    ln -sf /dev/null "$unit_links/$unit"
done
# What systemd does once after an update of /usr: it would be caught between the moments in which the first start
# makes the root writable and read-only again.
for unit in ldconfig systemd-hwdb-update systemd-journal-catalog-update systemd-sysusers systemd-update-done; do
    ln -sf /dev/null "$unit_links/$unit.service"
done
cat >"$root/etc/apt/sources.list" <<'LIST'
deb http://deb.debian.org/debian trixie main non-free-firmware
deb http://deb.debian.org/debian trixie-updates main non-free-firmware
deb http://deb.debian.org/debian trixie-backports main non-free-firmware
deb http://deb.debian.org/debian-security trixie-security main non-free-firmware
LIST
rm -rf "$root"/etc/apt/sources.list.d/* "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/* "$root"/var/log/* \
    "$root"/var/cache/debconf/*-old "$root"/var/lib/dpkg/*-old
