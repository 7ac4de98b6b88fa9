# Sourced by update.sh: the way back of the real rivulet-update under the real dpkg, with packages that hold little
# else, in a throwaway layer over this machine's root. systemd is a stand-in that says the agent runs.

# open_way_back: packages 1 and 3, which are healthy, and 2, which is not, in $FOLDER.
open_way_back() {
    FOLDER=$(mktemp -d "$WORK/way-back.XXXXXX")
    trap 'rm -rf "$FOLDER"' EXIT
    way_back_package 1 true
    way_back_package 2 false
    way_back_package 3 true
}

# way_back_package VERSION COMMAND: its agent answers --health if the command succeeds.
way_back_package() {
    local tree=$FOLDER/tree name
    rm -rf "$tree"
    mkdir -p "$tree/DEBIAN" "$tree/usr/bin" "$tree/usr/libexec/rivulet" "$tree/usr/share/man/man1"
    printf 'Package: rivulet-agent\nVersion: %s\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n' "$1" \
        >"$tree/DEBIAN/control"
    for name in postinst prerm postrm; do
        sed '/#DEBHELPER#/d' "deploy/debian/rivulet-agent.$name" >"$tree/DEBIAN/$name"
        chmod 755 "$tree/DEBIAN/$name"
    done
    install -m 755 deploy/debian/rivulet-update "$tree/usr/libexec/rivulet/"
    printf '#!/bin/sh\n%s && echo "healthy: %s"\n' "$2" "$1" >"$tree/usr/bin/rivulet-agent"
    chmod 755 "$tree/usr/bin/rivulet-agent"
    echo page >"$tree/usr/share/man/man1/rivulet-agent.1"
    (cd "$tree" && find usr -type f -exec md5sum {} + >DEBIAN/md5sums)
    dpkg-deb --root-owner-group -b "$tree" "$FOLDER/$1.deb" >/dev/null
}

# in_layer COMMANDS: with the packages in /debs; `update` is rivulet-update, and `is_whole VERSION` whether that one is
# installed, for dpkg and in truth.
in_layer() {
    unshare --mount --propagation private bash -euc '
        layer=$(mktemp -d)
        trap "umount -l $layer; rmdir $layer" EXIT
        mount -t tmpfs tmpfs "$layer"
        mkdir "$layer/upper" "$layer/work" "$layer/root"
        mount -t overlay overlay -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
        mount -t proc proc "$layer/root/proc"
        mount --bind /dev "$layer/root/dev"
        mkdir -p "$layer/root/run/systemd/system" "$layer/root/debs"
        cp "$1"/*.deb deploy/image/early/etc/dpkg/dpkg.cfg.d/small "$layer/root/debs/"
        cd "$layer/root/usr/local/sbin"
        printf "#!/bin/sh\n[ \$1 != show ] || echo 42\n" >systemctl
        printf "#!/bin/sh\n" >logger
        printf "#!/bin/sh\nexec /usr/libexec/rivulet/rivulet-update \$1\n" >update
        printf "#!/bin/sh\n[ \$(dpkg-query -W -f \\\${Version} rivulet-agent) = \$1 ] &&
            grep -q healthy:.\$1 /usr/bin/rivulet-agent" >is_whole
        chmod 755 systemctl logger update is_whole
        chroot "$layer/root" env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
            DEBIAN_FRONTEND=noninteractive RIVULET_UPDATE_SECONDS=20 bash -xeuc "$2"
    ' sh "$FOLDER" "$1"
}

# The image, Armbian and others install no manual pages, which dpkg lists all the same.
case_way_back_where_manuals_are_left_out() {
    open_way_back
    in_layer '
        cp /debs/small /etc/dpkg/dpkg.cfg.d/
        dpkg -i /debs/1.deb
        test ! -e /usr/share/man/man1/rivulet-agent.1
        dpkg -i /debs/2.deb
        if update decide; then exit 1; fi
        is_whole 1
        dpkg -i /debs/3.deb
        update decide
        is_whole 3' || fail "there is no way back"
}

# A second upgrade while the first is not decided: the way back leads to what worked, and the newest gets its minute.
case_way_back_of_two_upgrades() {
    open_way_back
    in_layer '
        dpkg -i /debs/1.deb
        dpkg -i /debs/2.deb
        update decide &
        sleep 12
        dpkg -i /debs/3.deb
        wait $!
        is_whole 3
        test ! -e /var/lib/rivulet-update' || fail "a healthy one was taken back"
    in_layer '
        dpkg -i /debs/1.deb
        dpkg -i /debs/2.deb
        dpkg -i /debs/2.deb
        if update decide; then exit 1; fi
        is_whole 1' || fail "it goes back to one that never worked"
}

# As rivulet-update says when it could not install it itself.
case_way_back_by_hand() {
    open_way_back
    in_layer '
        dpkg -i /debs/1.deb
        dpkg -i /debs/2.deb
        dpkg -i /var/lib/rivulet-update/package.deb
        is_whole 1
        update decide
        test ! -e /var/lib/rivulet-update' || fail "dpkg -i by hand"
}

case_way_back_ends_with_the_package() {
    open_way_back
    in_layer '
        dpkg -i /debs/1.deb
        dpkg -i /debs/2.deb
        dpkg -r rivulet-agent
        test ! -e /var/lib/rivulet-update' || fail "a removed package leaves its way back"
}
