# Sourced by boot.sh: a root for the virtual machine that needs no disk, so that the machine can
# sleep: what a suspend takes from QEMU's shared folders (9p) does not come back with the machine.

# Of these packages, all programs; and these others.
MEMORY_PACKAGES=(bash coreutils grep sed kmod)
MEMORY_PROGRAMS=(sh ip ps btmgmt btmon dmesg mount umount mountpoint rtcwake)
# What modprobe wants to find, and modules that the kernel asks for by itself.
MEMORY_MODULES=(hci_vhci algif_hash algif_skcipher cmac ecb ccm ctr aes_generic drbg sha512_generic
    hmac rfcomm)

# memory_root FOLDER ARCHIVE: fills the folder, and writes it as a cpio archive in which it is /memory.
memory_root() {
    local folder=$1/memory file modules=$CACHE/kernel/lib/modules/$RELEASE
    mkdir -p "$folder/lib/modules/$RELEASE" "$folder"/{proc,sys,dev,run,tmp,root,etc}
    {
        dpkg -L "${MEMORY_PACKAGES[@]}" | grep -E '^(/usr)?/s?bin/.'
        for file in "${MEMORY_PROGRAMS[@]}"; do command -v "$file"; done
        printf '%s\n' /bin/sh /usr/bin/env "$BIN/rivulet" "$BIN/rivulet-agent" "$CACHE/btvirt"
    } | sort -u | while read -r file; do
        [ -f "$file" ] || continue
        echo "$file"
        ldd "$file" 2>/dev/null | grep -o '/[^ ]*'
    done | sort -u | xargs cp -L --parents -t "$folder" 2>/dev/null
    [ -x "$folder/bin/sh" ] || return
    [ ! -d /usr/lib/locale/C.utf8 ] || cp -r --parents /usr/lib/locale/C.utf8 "$folder"
    cp -r --parents "$TOP/Tests/expect.sh" "$TOP/Tests/Network" "$TOP/Tests/Lab" "$folder"
    cp "$modules"/modules.* "$folder/lib/modules/$RELEASE/"
    # Where the folders of /usr and of / are one, the copies are two: both names work.
    for file in "${MEMORY_MODULES[@]}"; do
        modprobe -d "$CACHE/kernel" -S "$RELEASE" --show-depends "$file" 2>/dev/null
    done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | sort -u | while read -r file; do
        file=${file#"$CACHE/kernel"}
        mkdir -p "$folder${file%/*}"
        cp "$CACHE/kernel$file" "$folder$file"
    done
    (cd "$1" && find memory | cpio -o -H newc --quiet) >"$2"
}
