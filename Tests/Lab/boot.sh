#!/usr/bin/env bash
# Boots a throwaway virtual machine whose root is this machine's own, read-only, and runs a command
# in it as root, in the current folder: Tests/Lab/boot.sh [-m] [-t SECONDS] [-v] -- COMMAND… The
# output is streamed, the status is the command's; 124: it took too long; 125: the machine died. What
# the machine writes stays in its memory. It has no network card. run.sh must have set it up once.
# With -m the root is a copy in memory of the little that Bluetooth's cases take, of the programs in
# $BIN for one: such a machine can sleep (memory.sh). The processor is emulated (TCG): KVM is there on
# machines where this kernel hangs under it. One processor: two emulated ones spend a third of their
# time on each other. LAB_KVM=1 forces it, LAB_CPUS and LAB_MEMORY (MB) change the size. A machine
# that has stopped living (no sign of life for LAB_SILENCE seconds, 180) has died.
set -uo pipefail
here=$PWD
. "$(dirname "$0")/../../deploy/common.sh"
CACHE=${LAB_CACHE:-$TOP/.build-lab}

seconds=300 verbose= in_memory=
while getopts mt:v option; do
    case $option in
        m) in_memory=1 ;;
        t) seconds=$OPTARG ;;
        v) verbose=1 ;;
        *) exit 64 ;;
    esac
done
shift $((OPTIND - 1))
[ "${1:-}" != -- ] || shift
RELEASE=$(cat "$CACHE/release" 2>/dev/null) || die "no virtual machine yet; Tests/Lab/run.sh makes it"

share=$(mktemp -d "$CACHE/share.XXXXXX")
machine=
cleanup() {
    [ -z "$machine" ] || kill "$machine" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$share"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# watch_life PROCESS FILE: ends the machine when its file has not grown for too long. An emulator that hangs takes
# no time of a processor and would otherwise take all of ours.
watch_life() {
    local size=-1 now silent=0
    while kill -0 "$1" 2>/dev/null; do
        now=$(stat -c %s "$2" 2>/dev/null || echo 0)
        if [ "$now" = "$size" ]; then silent=$((silent + 5)); else silent=0; fi
        size=$now
        if [ "$silent" -ge "${LAB_SILENCE:-180}" ]; then
            echo "the virtual machine gave no sign of life for $silent s" >&2
            touch "$2.lost"
            kill "$1"
            return
        fi
        sleep 5
    done
}

printf '%s\n' "cd $(printf %q "$here")" "exec $(printf '%q ' "$@")" >"$share/command.sh"
cat >"$share/init.sh" <<INIT
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
export HOME=/root LC_ALL=C.UTF-8 LAB_GUEST=1
exec >/dev/console 2>&1
# A sign of life for whoever started the machine: the last port of the virtio console.
while sleep 5; do echo >/dev/vport0p3; done &
# The first port is what our caller reads.
bash /run/lab/command.sh </dev/null >/dev/vport0p1 2>&1
echo \$? >/dev/vport0p2
echo b >/proc/sysrq-trigger
INIT

accelerator=(-accel "tcg,thread=multi" -cpu max)
[ -z "${LAB_KVM:-}" ] || accelerator=(-accel kvm -cpu host)
modules=$(realpath "$CACHE/kernel/lib/modules/$RELEASE")
kernel=$CACHE/vmlinux initramfs=$CACHE/initramfs.gz
folders=(-fsdev local,id=root,path=/,security_model=none,readonly=on,multidevs=remap
    -device virtio-9p-pci,fsdev=root,mount_tag=root
    -fsdev "local,id=modules,path=$modules,security_model=none,readonly=on"
    -device virtio-9p-pci,fsdev=modules,mount_tag=modules
    -fsdev "local,id=share,path=$share,security_model=none,readonly=on"
    -device virtio-9p-pci,fsdev=share,mount_tag=share)
if [ -n "$in_memory" ]; then
    . Tests/Lab/memory.sh
    mkdir -p "$share/memory/lab"
    cp "$share"/*.sh "$share/memory/lab/"
    memory_root "$share" "$share/initramfs" || die "could not make the root in memory"
    # The kernel takes archives one after the other, compressed or not.
    cat "$CACHE/initramfs.gz" >>"$share/initramfs"
    # Waking up leads through the firmware, which knows no kernel that was unpacked before.
    kernel=$CACHE/kernel/boot/vmlinuz-$RELEASE initramfs=$share/initramfs folders=()
fi
# Our standard output goes to QEMU as a set of descriptors: `-chardev stdio` would stall at the end
# of stdin.
exec 3>&1
timeout -k 5 "$seconds" qemu-system-x86_64 "${accelerator[@]}" -M q35 -smp "${LAB_CPUS:-1}" \
    -m "${LAB_MEMORY:-2048}" -nodefaults -no-user-config -display none -no-reboot \
    -kernel "$kernel" -initrd "$initramfs" \
    -append "console=ttyS0 loglevel=4 panic=-1 mitigations=off random.trust_cpu=on tsc=reliable \
        no_timer_check release=$RELEASE" \
    -chardev "file,id=console,path=$share/console" -serial chardev:console \
    -device virtio-serial-pci -add-fd fd=3,set=1 \
    -chardev file,id=output,path=/dev/fdset/1,append=on \
    -device virtserialport,chardev=output,name=output \
    -chardev "file,id=status,path=$share/status" -device virtserialport,chardev=status,name=status \
    -chardev "file,id=life,path=$share/life" -device virtserialport,chardev=life,name=life \
    -device virtio-rng-pci "${folders[@]}" </dev/null &
machine=$!
watch_life "$machine" "$share/life" &
watcher=$!
wait "$machine"
status=$?
machine=
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
[ -z "$verbose" ] || sed 's/^/console: /' "$share/console" >&2
[ ! -e "$share/life.lost" ] || {
    echo "its last words:" >&2
    tail -n 30 "$share/console" >&2
    exit 125
}
[ "$status" != 124 ] || {
    echo "the virtual machine took longer than $seconds s" >&2
    exit 124
}
[ -s "$share/status" ] || {
    echo "the virtual machine died (QEMU: $status); its last words:" >&2
    tail -n 30 "$share/console" >&2
    exit 125
}
exit "$(cat "$share/status")"
