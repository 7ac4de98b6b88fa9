# Sourced by image.sh: deploy/flash.sh on files and loop devices. A real card, and a fixed disk that is not mounted,
# cannot be had here.

# open_flash [MEGABYTES]: a small image like ours, $FOLDER/small.img: one partition with the files that count.
open_flash() {
    FOLDER=$(mktemp -d "$WORK/flash.XXXXXX")
    LOOPS=()
    trap close_flash EXIT
    local image=$FOLDER/small.img
    truncate -s "${1:-24}M" "$image"
    printf 'label: dos\nstart=8192, size=32768, type=c\n' | sfdisk --quiet "$image"
    truncate -s 16M "$FOLDER/boot"
    mkfs.vfat -n RIVULET "$FOLDER/boot" >/dev/null
    echo 'board: rpi' | mcopy -i "$FOLDER/boot" - ::/rivulet-image.txt
    printf 'network: lab\nrole: relay\n' | mcopy -i "$FOLDER/boot" - ::/rivulet.yaml
    head -c 3000000 /dev/urandom | mcopy -i "$FOLDER/boot" - ::/kernel
    dd if="$FOLDER/boot" of="$image" bs=1M seek=4 conv=notrunc status=none
    head -c 1000000 /dev/urandom | dd of="$image" bs=1M seek=21 conv=notrunc status=none
    (umask 077 && "$BIN/rivulet" secret >"$FOLDER/secret")
}

close_flash() {
    local loop
    umount "$FOLDER/mounted" 2>/dev/null
    for loop in "${LOOPS[@]}"; do losetup -d "$loop" 2>/dev/null; done
    umount "$FOLDER/tiny" 2>/dev/null
    rm -rf "$FOLDER"
}

# loop SIZE [FILE]: a card of that size, its name in $CARD.
loop() {
    local file=${2:-$FOLDER/card}
    truncate -s "$1" "$file"
    CARD=$(losetup --find --show "$file") || not_run "no loop devices here"
    LOOPS+=("$CARD")
}

# refused WORDS ARGUMENT…: it ends with a failure that says so, and what is there stays.
refused() {
    local words=$1
    shift
    ! deploy/flash.sh "$@" </dev/null >"$FOLDER/said" 2>&1 || fail "not refused: $*"
    cat "$FOLDER/said"
    grep -qF -- "$words" "$FOLDER/said" || fail "it does not say: $words"
}

# not_built WORDS ARGUMENT…: no image is made; before any work it says why.
not_built() {
    local words=$1
    shift
    ! deploy/build-image.sh --board rpi "$@" >"$FOLDER/said" 2>&1 || fail "not refused: $*"
    grep -qF -- "$words" "$FOLDER/said" || fail "it does not say: $words, but $(cat "$FOLDER/said")"
}

# read_card FILE NAME: a file of the card's boot partition.
read_card() { mtype -i "$1@@4M" "::/$2"; }

case_flash_writes_and_compares() {
    open_flash
    must "to a file" deploy/flash.sh "$FOLDER/small.img" "$FOLDER/out.img" --yes
    cmp "$FOLDER/small.img" "$FOLDER/out.img" || fail "the file differs"
    xz -k "$FOLDER/small.img"
    loop 64M
    must "compressed, to a card" deploy/flash.sh "$FOLDER/small.img.xz" "$CARD" --yes
    cmp -n "$(stat -c %s "$FOLDER/small.img")" "$FOLDER/small.img" "$CARD" || fail "the card differs"
    echo no | deploy/flash.sh "$FOLDER/small.img" "$CARD" >"$FOLDER/said" 2>&1 && fail "no was taken for yes"
    grep -q "this will be erased: $CARD" "$FOLDER/said" || fail "it does not say what it would erase"
    grep -q "${CARD#/dev/}p1\|RIVULET\|nothing was written" "$FOLDER/said" || fail "nor what is on it"
}

case_flash_personalises() {
    open_flash
    printf -- '---\r\nname: other\r\nnetwork: lab\r\nrole: relay\r\n' >"$FOLDER/own.yaml"
    must "name, configuration and secret" deploy/flash.sh "$FOLDER/small.img" "$FOLDER/out.img" --yes --name north-3 \
        --config "$FOLDER/own.yaml" --secret "$FOLDER/secret"
    read_card "$FOLDER/out.img" rivulet.yaml
    [ "$(stat -c %a "$FOLDER/out.img")" = 600 ] || fail "others can read the secret in it"
    [ "$(read_card "$FOLDER/out.img" rivulet.yaml | grep -c 'name:')" = 1 ] || fail "two names"
    read_card "$FOLDER/out.img" rivulet.yaml | sed "\$asecret-file: $FOLDER/secret" >"$FOLDER/checked.yaml"
    "$BIN/rivulet" check "$FOLDER/checked.yaml" | grep -q 'relay north-3 in network lab' || fail "not right"
    read_card "$FOLDER/out.img" secret | cmp - "$FOLDER/secret" || fail "another secret"
    read_card "$FOLDER/out.img" kernel | cmp - <(mtype -i "$FOLDER/boot" ::/kernel) || fail "the rest has changed"
    (cd "$FOLDER" && cp own.yaml -- -own.yaml && must "a file that begins with a hyphen" "$TOP/deploy/flash.sh" \
        small.img out.img --yes --config -own.yaml) || fail "as it says"
    must "five in a row" deploy/flash.sh "$FOLDER/small.img" "$FOLDER/five-{n}.img" --count 5 --name 'bench-{n}' --yes
    local n
    for n in 1 2 3 4 5; do
        read_card "$FOLDER/five-$n.img" rivulet.yaml | grep -qx "name: \"bench-$n\"" || fail "card $n has another name"
    done
    loop 64M
    # Between cards it waits for the next.
    printf '\n\n' | deploy/flash.sh "$FOLDER/small.img" "$CARD" --count 2 --name 'loop-{n}' --yes ||
        fail "two on a card"
    read_card "$CARD" rivulet.yaml | grep -qx 'name: "loop-2"' || fail "not the second"
    # The second is mounted at first, as a desktop does it. Not for long: what makes a namespace meanwhile, as other
    # lanes do, keeps it mounted there, and its file system would be written to beneath the image.
    mkdir -p "$FOLDER/mounted"
    said() { until_true 60 grep -qs "$1" "$FOLDER/said"; }
    : >"$FOLDER/said"
    { said 'again-1 is ready'; mkfs.ext4 -qF "$CARD"; mount "$CARD" "$FOLDER/mounted"; echo
        said 'in use: mounted'; umount "$CARD"; echo; } |
        deploy/flash.sh "$FOLDER/small.img" "$CARD" --count 2 --name 'again-{n}' --yes >"$FOLDER/said" 2>&1 ||
        fail "it gives up: $(cat "$FOLDER/said")"
    must "it says what is wrong" grep -q 'in use: mounted' "$FOLDER/said"
    read_card "$CARD" rivulet.yaml | grep -qx 'name: "again-2"' || fail "not the second after all"
}

case_flash_refuses_what_would_hurt() {
    open_flash
    local image=$FOLDER/small.img disk
    loop 64M
    mkfs.ext4 -q "$CARD"
    mkdir "$FOLDER/mounted"
    mount "$CARD" "$FOLDER/mounted"
    refused "in use: mounted at $FOLDER/mounted" "$image" "$CARD" --yes
    umount "$FOLDER/mounted"
    # Mounted while the question stands there.
    { sleep 2; mount "$CARD" "$FOLDER/mounted"; echo yes; } | deploy/flash.sh "$image" "$CARD" >"$FOLDER/said" 2>&1 &&
        fail "it writes to a card that was mounted meanwhile"
    grep -qF "in use: mounted at $FOLDER/mounted" "$FOLDER/said" || fail "it says: $(cat "$FOLDER/said")"
    umount "$FOLDER/mounted"
    disk=$(findmnt -no SOURCE /)
    [ ! -b "$disk" ] || refused "in use: mounted at" "$image" "$disk" --yes
    refused "there is no such device" "$image" /dev/sdzz --yes
    refused "is /dev/sdzz meant?" "$image" sdzz --yes
    refused "neither a card nor a file" "$image" /dev/null --yes
    refused "is the image itself" "$image" "$image" --yes
    loop 20M "$FOLDER/small-card"
    refused "take a larger card" "$image" "$CARD" --yes
    blockdev --setro "${LOOPS[0]}"
    refused "write-protected" "$image" "${LOOPS[0]}" --yes
    blockdev --setrw "${LOOPS[0]}"
}

case_flash_refuses_wrong_files() {
    open_flash
    local image=$FOLDER/small.img out=$FOLDER/out.img size file
    refused "there is no such file" "$FOLDER/nowhere.img" "$out"
    cp "$image" "$FOLDER/image.zip"
    refused "unpack it first" "$FOLDER/image.zip" "$out"
    refused "not the name of an image" README.md "$out"
    head -c 100000 /dev/zero >"$FOLDER/empty.img"
    refused "not an image of a card" "$FOLDER/empty.img" "$out"
    xz -k "$image"
    head -c 500000 "$image.xz" >"$FOLDER/half.img.xz"
    refused "not a whole .xz file" "$FOLDER/half.img.xz" "$out"
    # Behind the boot partition, and within it.
    for size in 10000000 20000000; do
        head -c $size "$image" >"$FOLDER/half.img"
        refused "ends too early" "$FOLDER/half.img" "$out"
    done
    cp "$image" "$FOLDER/other.img"
    mdel -i "$FOLDER/other.img@@4M" ::/rivulet-image.txt
    refused "was not made by deploy/build-image.sh" "$FOLDER/other.img" "$out" --name north
    echo 'board: orangepi' | mcopy -i "$FOLDER/other.img@@4M" - ::/rivulet-image.txt
    refused "is for the board orangepi" "$FOLDER/other.img" "$out"
    refused "holds no secret" "$image" "$out" --secret README.md
    # Not UTF-8; a NUL far behind text; nothing at all.
    printf '\377\376' >"$FOLDER/noise"
    { head -c 70000 /dev/zero | tr '\0' x && printf '\0'; } >"$FOLDER/late-nul"
    : >"$FOLDER/nothing"
    for file in noise late-nul nothing; do
        refused "is not text" "$image" "$out" --config "$FOLDER/$file"
    done
    refused "the same name" "$image" "$out" --count 5 --name bench
    refused "wants a value" "$image" "$out" --name ''
    refused "control characters" "$image" "$out" --name $'bench\t1'
    refused "59 bytes at most" "$image" "$out" --name "$(printf 'ä%.0s' {1..30})"
    [ ! -e "$out" ] || fail "something was written"
    ! deploy/build-image.sh --board orangepi >"$FOLDER/said" 2>&1 || fail "an image for another board"
    grep -q 'Other 64-bit boards' "$FOLDER/said" || fail "it does not say what to do: $(cat "$FOLDER/said")"
    not_built "must end in .img" --output "$FOLDER/card"
    not_built "ä counts as two" --wifi lab --country DE < <(printf 'ä%.0s' {1..40})
    not_built "control characters" --wifi lab --country DE < <(printf 'pass\tphrase')
    not_built "there is no folder" --output "$FOLDER/none/card.img"
}

# The file behind the card has no room: to the writer it is a card that gives up in the middle.
case_flash_tells_a_card_that_fails() {
    open_flash 64
    mkdir "$FOLDER/tiny"
    head -c 60000000 /dev/urandom | dd of="$FOLDER/small.img" bs=1M seek=21 conv=notrunc status=none
    mount -t tmpfs -o size=30M tmpfs "$FOLDER/tiny"
    refused "is full or broken" "$FOLDER/small.img" "$FOLDER/tiny/out.img" --yes
    rm -f "$FOLDER/tiny/out.img"
    loop 100M "$FOLDER/tiny/card"
    refused "write it again" "$FOLDER/small.img" "$CARD" --yes
    grep -q "pulled out" "$FOLDER/said" || fail "it does not say what it may be"
    [ "$(sed -n 's/^writing stopped: //p' "$FOLDER/said" | wc -l)" = 1 ] || fail "not told once"
}
