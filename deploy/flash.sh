#!/usr/bin/env bash
# Writes an image onto a card, and reads it back: deploy/flash.sh IMAGE DEVICE [options], as root.
# IMAGE is an .img or .img.xz, DEVICE a whole card such as /dev/sdb or /dev/mmcblk0, or a file.
#
#   --name NAME    what the board is called, into its rivulet.yaml; {n} stands for the number of the card
#   --config FILE  its rivulet.yaml
#   --secret FILE  the network's secret
#   --count N      so many cards, one after the other in the same reader
#   --yes          does not ask
set -euo pipefail
. "$(dirname "$0")/common.sh"
usage="usage: deploy/flash.sh IMAGE DEVICE [--name NAME] [--config FILE] [--secret FILE] [--count N] [--yes]"
cd "$OLDPWD"

name='' config='' secret='' count=1 yes='' places=()
while [ $# -gt 0 ]; do
    case $1 in
    --help) sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//p}' "$TOP/deploy/flash.sh"; exit 0 ;;
    --yes) yes=1; shift ;;
    --name | --config | --secret | --count)
        [ -n "${2:-}" ] || die "$1 wants a value"
        declare "${1#--}=$2"
        # A file may begin with a hyphen; to the programs below that would be an option.
        case $1$2 in --config-* | --secret-*) declare "${1#--}=./$2" ;; esac
        shift 2
        ;;
    -*) die "unknown option $1; $usage" ;;
    *) places+=("$1"); shift ;;
    esac
done
[ ${#places[@]} = 2 ] || die "$usage"
image=${places[0]} device=${places[1]}

tmp=$(mktemp -d)
writer=''
trap leave EXIT
trap 'exit 130' INT TERM
leave() {
    [ -z "$writer" ] || { kill "$writer" 2>/dev/null && echo "stopped: what is on $target is not whole" >&2; }
    rm -rf "$tmp"
}

# --- the image

# unpacked: the image's bytes.
unpacked() {
    case $image in
    *.xz) xz -dc "$image" ;;
    *) cat "$image" ;;
    esac
}

# part FROM COUNT: of the image.
part() { (set +o pipefail; unpacked 2>/dev/null | { head -c "$1" >/dev/null; head -c "$2"; }); }

# little_endian OFFSET: the 4 bytes there, in the table of partitions.
little_endian() { od -An -tu4 -j "$1" -N 4 --endian=little "$tmp/table" | tr -d ' '; }

check_image() {
    [ -e "$image" ] || die "$image: there is no such file"
    [ -f "$image" ] || die "$image is not a file; the image comes first, then the device"
    case $image in
    *.img | *.img.xz) ;;
    *.zip | *.gz | *.bz2 | *.zst | *.7z) die "$image: unpack it first; .img and .img.xz can be written" ;;
    *) die "$image: not the name of an image; .img and .img.xz can be written" ;;
    esac
    if [[ $image = *.xz ]]; then
        need xz-utils
        total=$(xz --robot --list "$image" 2>/dev/null | awk '$1 == "totals" {print $5}') || true
        [ "${total:-0}" -gt 0 ] || die "$image: not a whole .xz file; fetch or make it again"
    else
        total=$(stat -c %s "$image")
    fi
    part 0 512 >"$tmp/table"
    [ "$(od -An -tx1 -j 510 -N 2 "$tmp/table" 2>/dev/null | tr -d ' ')" = 55aa ] ||
        die "$image: not an image of a card (it has no table of partitions); deploy/build-image.sh makes one"
    boot_at=$(($(little_endian 454) * 512)) boot_size=$(($(little_endian 458) * 512))
    board=''
    # A card's own first partition begins within some MiB; of what is no image of ours nothing is unpacked.
    if [[ $boot_at -gt 0 && $boot_at -le 67108864 && $boot_size -gt 0 && $boot_size -le 1073741824 ]]; then
        part "$boot_at" "$boot_size" >"$tmp/boot"
        board=$(mtype -i "$tmp/boot" ::/rivulet-image.txt 2>/dev/null | sed -n 's/^board: //p') || true
    fi
    case $board in
    rpi)
        check_whole
        echo "$image: for Raspberry Pi Zero 2 W, 3, 4, 400 and 5, $((total / 1000000)) MB"
        ;;
    '')
        [ -z "$name$config$secret" ] || die "$image was not made by deploy/build-image.sh: it takes no --name, --config
or --secret. Is it the image of another system? Written without them it is as it is, and Rivulet is not on it."
        echo "$image: not made by deploy/build-image.sh, written as it is, $((total / 1000000)) MB"
        ;;
    *) die "$image is for the board $board, which this version does not know" ;;
    esac
}

# check_whole: all partitions of the table lie within the image. A copy that was cut off begins like the whole one.
check_whole() {
    local entry end
    for entry in 446 462 478 494; do
        end=$((($(little_endian $((entry + 8))) + $(little_endian $((entry + 12)))) * 512))
        [ "$end" -le "$total" ] || die "$image ends too early, at $((total / 1000000)) of $((end / 1000000)) MB;
copy or make it again"
    done
}

# is_text FILE: UTF-8 without NUL, and not empty.
is_text() {
    [ -s "$1" ] && iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 && tr -d '\000' <"$1" | cmp -s - "$1"
}

check_arguments() {
    [[ $count =~ ^[1-9][0-9]{0,3}$ ]] || die "--count must be 1 to 9999"
    [[ $count = 1 || -z $name || $name = *'{n}'* ]] ||
        die "$count cards would have the same name; write {n} where the number goes: --name '$name-{n}'"
    [[ $name != *[\"\\[:cntrl:]]* ]] || die "--name: no quotation marks, backslashes and control characters"
    [ "$(printf %s "$name" | wc -c)" -le 59 ] || die "--name: 59 bytes at most; letters such as ä have two"
    [ -z "$config" ] || [ -f "$config" ] || die "$config: there is no such file"
    [ -z "$config" ] || [ "$(wc -c <"$config")" -le 262144 ] || die "$config is too long to be a configuration"
    [ -z "$config" ] || is_text "$config" || die "$config is not text; --config wants a rivulet.yaml"
    [ -z "$secret" ] || [ -f "$secret" ] || die "$secret: there is no such file"
    [ -z "$secret" ] || grep -qsi '^ *rvs1-' "$secret" ||
        die "$secret holds no secret: a line that begins with rvs1-; make one with \`rivulet secret\`"
}

# personalise NUMBER: the boot partition of that card, in $tmp/card.
personalise() {
    own=''
    [ -n "$name$config$secret" ] || return 0
    own=1
    cp --sparse=always "$tmp/boot" "$tmp/card"
    local yaml=$tmp/rivulet.yaml called=${name//'{n}'/$1}
    if [ -n "$config" ]; then cp "$config" "$yaml"; else mtype -i "$tmp/card" ::/rivulet.yaml >"$yaml"; fi
    if [ -n "$name" ]; then
        # Before the first line that says something; a byte order mark has no place there any more.
        sed -i -e '1s/^\xef\xbb\xbf//' -e '/^name:/d' "$yaml"
        local at
        at=$(grep -nm 1 '^---' "$yaml" | cut -d : -f 1) || true
        if [ -n "$at" ]; then sed -i "${at}a name: \"$called\"" "$yaml"; else sed -i "1i name: \"$called\"" "$yaml"; fi
    fi
    mcopy -o -i "$tmp/card" "$yaml" ::/rivulet.yaml
    [ -z "$secret" ] || mcopy -o -i "$tmp/card" "$secret" ::/secret
    mdel -i "$tmp/card" ::/rivulet.yaml.error.txt 2>/dev/null || true
}

# card_bytes: what this card gets. Says in $tmp/unpacked whether the image could be read to its end.
card_bytes() {
    local status=0
    if [ -z "$own" ]; then
        unpacked 2>"$tmp/unpack-error" || status=$?
    else
        unpacked 2>"$tmp/unpack-error" | {
            head -c "$boot_at"
            cat "$tmp/card"
            head -c "$boot_size" >/dev/null
            cat
        } || status=$?
    fi
    echo $status >"$tmp/unpacked"
}

# --- the card

# asked COLUMN: what lsblk says of the device itself.
asked() { lsblk -dnro "$1" "$target" 2>/dev/null | sed 's/\\x20/ /g; s/^ *//; s/ *$//'; }

check_card() {
    [ -e "$target" ] || [[ $target != /dev/* ]] || die "$target: there is no such device; is the card in the reader?
These are there:
$(lsblk -dno NAME,SIZE,MODEL,TRAN | grep -v '^zram\|^loop' | sed 's#^#  /dev/#')"
    is_file=1
    [[ -e $target || ! $target =~ ^(sd[a-z]+|mmcblk[0-9]+)$ ]] ||
        die "$target would be a new file here; is /dev/$target meant?"
    [ -b "$target" ] || {
        [ ! -e "$target" ] || [ -f "$target" ] || die "$target is neither a card nor a file"
        [ -d "$(dirname "$target")" ] || die "$target: there is no such folder"
        [ ! "$target" -ef "$image" ] || die "$target is the image itself"
        return 0
    }
    is_file=''
    [ "$(id -u)" = 0 ] || die "run it as root: sudo deploy/flash.sh …"
    target=$(readlink -f "$target")
    local type mounted holders size
    type=$(asked TYPE)
    [ "$type" != part ] || die "$target is a part of a card; name the whole: /dev/$(asked PKNAME)"
    [[ $type = disk || $type = loop ]] || die "$target is not a card: lsblk calls it $type"
    mounted=$(lsblk -nro MOUNTPOINTS "$target" | sed 's/\\x0a/\n/g' | grep -v '^$' || true)
    [ -z "$mounted" ] || die "$target is in use: mounted at ${mounted//$'\n'/, }
If it is the right card: umount ${mounted//$'\n'/ }"
    holders=$(lsblk -nro TYPE "$target" | grep -vxE 'disk|part|loop' | sort -u | tr '\n' ' ' || true)
    [ -z "$holders" ] || die "$target is in use, by: $holders"
    # Memory that is soldered to the board (eMMC) is called like a card, and lsblk takes it for one.
    [ "$(cat "/sys/class/block/${target##*/}/device/type" 2>/dev/null)" != MMC ] ||
        die "$target ($(asked SIZE)) is a fixed disk of this machine (eMMC), not a card"
    # A loop device is a file of somebody's; all else must be a card or a stick.
    [ "$type" = loop ] || [ "$(asked RM)" = 1 ] || [ "$(asked HOTPLUG)" = 1 ] ||
        [[ $(asked TRAN) = usb || $(asked TRAN) = mmc || $target = /dev/mmcblk* ]] ||
        die "$target ($(asked MODEL), $(asked SIZE)) is a fixed disk of this machine, not a card"
    size=$(blockdev --getsize64 "$target")
    [ "$size" -gt 0 ] || die "$target: no card in the reader"
    [ "$(asked RO)" = 0 ] || die "$target is write-protected; cards have a little switch at the side"
    [ "$size" -ge "$total" ] ||
        die "$target has $((size / 1000000)) MB, and the image $((total / 1000000)) MB: take a larger card"
}

# confirm: what would be lost, and whether that is meant.
confirm() {
    if [ -n "$is_file" ]; then
        [ -s "$target" ] || return 0
        echo "this file will be overwritten: $target, $(($(stat -c %s "$target") / 1000000)) MB"
    else
        echo "this will be erased: $target, $(asked MODEL) $(asked SIZE)"
        lsblk -nro NAME,SIZE,FSTYPE,LABEL "$target" | tail -n +2 | sed 's/\\x20/ /g; s/^/  /'
    fi
    [ -z "$yes" ] || return 0
    local answer=''
    read -rp "type yes to go on: " answer || true
    [ "$answer" = yes ] || die "nothing was written"
}

# watch PROCESS DESCRIPTOR WORD: how far it has come, until it ends.
watch() {
    local begun=$SECONDS at elapsed rate line=0
    while kill -0 "$1" 2>/dev/null; do
        sleep 0.5
        at=$(sed -n 's/^pos:[[:space:]]*//p' "/proc/$1/fdinfo/$2" 2>/dev/null) || continue
        elapsed=$((SECONDS - begun))
        [[ -n $at && $elapsed -ge 1 ]] || continue
        rate=$((at / elapsed + 1))
        # On a terminal in one line; elsewhere one line each ten seconds.
        if [ -t 1 ]; then
            printf '\r%s %d of %d MB, %d.%d MB/s, %d s left   ' "$3" $((at / 1000000)) $((total / 1000000)) \
                $((rate / 1000000)) $((rate / 100000 % 10)) $(((total - at) / rate))
        elif [ $((elapsed / 10)) -gt $line ]; then
            line=$((elapsed / 10))
            echo "$3 $((at / 1000000)) of $((total / 1000000)) MB, $((rate / 1000000)) MB/s," \
                "$(((total - at) / rate)) s left"
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
}

write_card() {
    local flags=() begun=$SECONDS status=0
    # Past the cache, so that the progress is the card's and not the memory's.
    if [ -z "$is_file" ]; then flags=(oflag=direct conv=notrunc,fsync); else flags=(conv=fsync); fi
    dd of="$target" bs=4M iflag=fullblock "${flags[@]}" status=none < <(card_bytes) 2>"$tmp/error" &
    writer=$!
    watch $writer 1 "written"
    wait $writer || status=$?
    writer=''
    [ $status = 0 ] || die "writing stopped: $(sed 's/^dd: //' "$tmp/error")
$(why_stopped) What is on it now is not whole: write it again."
    until [ -s "$tmp/unpacked" ]; do sleep 0.1; done
    [ "$(cat "$tmp/unpacked")" = 0 ] ||
        die "the image could not be read to its end: $(cat "$tmp/unpack-error"); what is on the card is not whole"
    echo "written in $((SECONDS - begun)) s; reading it back"
}

why_stopped() {
    if [ -n "$is_file" ]; then
        echo "The disk that the file is on is full or broken."
    elif [ ! -e "$target" ] || [ "$(blockdev --getsize64 "$target" 2>/dev/null || echo 0)" = 0 ]; then
        echo "The card was pulled out."
    else
        echo "The card may be worn out, or was pulled out; try again, then another card or reader."
    fi
}

compare() {
    local flags=() begun=$SECONDS
    [ -n "$is_file" ] || { flags=(iflag=direct,count_bytes); blockdev --flushbufs "$target"; }
    [ -z "$is_file" ] || flags=(iflag=count_bytes)
    rm -f "$tmp/back" "$tmp/unpacked"
    mkfifo "$tmp/back"
    dd if="$target" bs=4M count="$total" "${flags[@]}" status=none >"$tmp/back" 2>"$tmp/error" &
    writer=$!
    cmp "$tmp/back" <(card_bytes) >"$tmp/difference" 2>&1 &
    local comparison=$! status=0
    watch $writer 0 "compared"
    wait $writer || [ -s "$tmp/difference" ] || status=1
    writer=''
    [ -z "$is_file" ] && [ $status = 1 ] && die "it could not be read back: $(cat "$tmp/error"). $(why_stopped)"
    wait $comparison || die "what was read back differs: $(sed 's/.* differ: //' "$tmp/difference"). Do not
trust the card or the reader: try again, then take another."
    echo "compared in $((SECONDS - begun)) s: the same"
}

command -v mtype >/dev/null || need mtools
check_arguments
check_image
# A file that stands for a card may have a secret in it. What is installed above shall not feel it.
umask 077
for ((n = 1; n <= count; n++)); do
    target=${device//'{n}'/$n}
    check_card
    [[ $n = 1 || -z $is_file || $device = *'{n}'* ]] || die "one file for $count cards; write {n} into its name"
    personalise "$n"
    [ "$count" = 1 ] || echo "card $n of $count${name:+: ${name//'{n}'/$n}}"
    confirm
    # A desktop may have mounted it while the question stood there.
    check_card
    write_card
    compare
    [ -n "$is_file" ] || sync
    echo "${name:+${name//'{n}'/$n} }is ready: $target"
    if [[ $n -lt $count && -z $is_file ]]; then
        while read -rp "take it out, put in the next one, and press Enter (Ctrl-C ends) " _ ||
            die "$((count - n)) cards were not written"; do
            # Too early, or mounted by a desktop: the numbers go on all the same.
            ! (check_card) || break
        done
    fi
done
