# Sourced by run.sh: how cases are run and told of. A mode M has a function run_M, which prepares what its
# cases share and calls `run_case` for each.

. "$TOP/Tests/expect.sh"
WORK=$TOP/.build-image-tests
mkdir -p "$WORK"

# run_case NAME FUNCTION…: in a subshell of its own; its output is shown when it fails. A case that cannot be
# run here says `not_run REASON`.
run_case() {
    local name=$1 log=$WORK/$1.log started=$SECONDS status
    shift
    ("$@") >"$log" 2>&1
    status=$?
    if [ $status = 0 ]; then
        echo "ok     $name ($((SECONDS - started)) s)"
        sed -n 's/^measured: /       /p' "$log"
        passed=$((passed + 1))
    elif [ $status = 77 ]; then
        echo "not run $name: $(sed -n 's/^not run: //p' "$log" | tail -n 1)"
    else
        echo "FAILED $name ($((SECONDS - started)) s)"
        tail -n 60 "$log" | sed 's/^/       /'
        failed=$((failed + 1))
    fi
}

# not_run REASON: leaves the case.
not_run() {
    echo "not run: $*"
    exit 77
}

# fail WORDS: leaves the case, and tells what the machines have in their journals.
fail() {
    local name
    for name in "${!MACHINES[@]}"; do
        echo "-- the journal of $name"
        in_machine "$name" journalctl --no-pager -n 15 -u rivulet-agent -u rivulet-collector -o short-monotonic
        in_machine "$name" journalctl --no-pager -n 15 -u rivulet-update -o short-monotonic
    done
    echo "not so: $*"
    exit 1
}

# What these tests need beside what building needs.
IMAGE_PACKAGES=(mmdebstrap debian-archive-keyring systemd-container debhelper fakeroot jq)
PACKAGES_FOLDER=$TOP/.build-packages
# Debian's releases that the packages are for; how theirs are built here.
RELEASES=(bookworm trixie)
declare -A NUMBER=([bookworm]=12 [trixie]=13) TARGET=([bookworm]=amd64 [trixie]=amd64-trixie)
if grep -q 'VERSION_ID="13"' /etc/os-release; then
    RELEASES=(trixie) TARGET[trixie]=amd64
fi

# build_one RELEASE
build_one() { deploy/build-packages.sh "${TARGET[$1]}" >>"$WORK/build.log" 2>&1; }

# second_revision RELEASE: the same packages as a second revision, which is what an upgrade installs.
second_revision() {
    local file folder
    for file in "$PACKAGES_FOLDER"/*-1~deb"${NUMBER[$1]}"_amd64.deb; do
        folder=$(mktemp -d)
        dpkg-deb -R "$file" "$folder/x" && sed -i 's/^\(Version: .*\)-1~/\1-2~/' "$folder/x/DEBIAN/control" &&
            dpkg-deb --root-owner-group -Znone -b "$folder/x" "${file/-1~/-2~}" >>"$WORK/build.log" || return
        rm -rf "$folder"
    done
}

# build_packages: for all releases, also as a second revision; their machines. Once.
BUILT=
build_packages() {
    [ -z "$BUILT" ] || return 0
    local release
    : >"$WORK/build.log"
    for release in "${RELEASES[@]}"; do
        if ! { build_one "$release" && second_revision "$release" && machine_root "$release"; }; then
            tail -n 20 "$WORK/build.log"
            echo "FAILED packages-$release-build"
            failed=$((failed + 1))
            return 1
        fi
    done
    BUILT=1
}

# Machines: whole Debian systems in systemd-nspawn, each on a throwaway layer above a root that is made once.
# In each release's root lies what our packages depend on, so that apt needs no network.
MACHINE_PACKAGES=systemd,systemd-sysv,dbus,udev,procps,iproute2,openssh-server,libavahi-client3,libqrencode4,libsqlite3-0,libyaml-0-2,libstdc++6,libpq5,libmosquitto1
declare -A RELEASE_PACKAGES=([bookworm]=libssl3,libgpiod2,libcurl4,libnats3.4,libmicrohttpd12
    [trixie]=libssl3t64,libgpiod3,libcurl4t64,libnats3.10,libmicrohttpd12t64)

# machine_root RELEASE: half a minute the first time.
machine_root() {
    local root=$WORK/$1 list=$MACHINE_PACKAGES,${RELEASE_PACKAGES[$1]}
    [ "$(cat "$root.complete" 2>/dev/null)" != "$list" ] || return 0
    rm -rf --one-file-system "$root"
    debian_root "$1" "$root" "$list" >"$root.log" 2>&1 || { tail -n 5 "$root.log"; return 1; }
    # Ours are wanted as they are installed, with manual pages.
    rm -f "$root"/etc/dpkg/dpkg.cfg.d/*mmdebstrap* "$root/etc/machine-id"
    : >"$root/etc/machine-id"
    echo "$list" >"$root.complete"
}

# machine_up NAME RELEASE [OPTION…]: boots it; a second time with what it wrote. Options are systemd-nspawn's.
# MACHINES: the processes by name. Mounts are in a namespace that goes with the machine.
declare -A MACHINES=()
LAYERS=
machine_up() {
    local name=$1 release=$2 layer
    shift 2
    # On a file system of its own: what we lie on may be a layer itself.
    [ -n "$LAYERS" ] || LAYERS=$(mktemp -d)
    layer=$LAYERS/$name
    mkdir -p "$layer/upper" "$layer/work" "$layer/root"
    unshare --mount --propagation private bash -euc '
        layer=$1 root=$2
        shift 2
        [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ] || mount -t cgroup2 none /sys/fs/cgroup
        mount -t overlay overlay -o "lowerdir=$root,upperdir=$layer/upper,workdir=$layer/work" "$layer/root"
        exec systemd-nspawn --quiet --directory="$layer/root" --register=no --keep-unit --boot --console=pipe \
            --link-journal=no --hostname="${layer##*/}" "$@"
    ' sh "$layer" "$WORK/$release" "$@" <"/dev/null" >>"$layer/console" 2>&1 &
    MACHINES[$name]=$!
    until_true 120 is_booted "$name" || { tail -n 20 "$layer/console"; return 1; }
}

# leader NAME: the machine's first process.
leader() {
    local process
    for process in $(pgrep -P "${MACHINES[$1]}"); do
        [ "$(cat "/proc/$process/comm")" != systemd ] || { echo "$process"; return; }
    done
    return 1
}

is_booted() {
    local state
    state=$(in_machine "$1" systemctl is-system-running 2>/dev/null) || true
    [[ $state = running || $state = degraded ]]
}

# in_machine NAME COMMAND…
in_machine() {
    local process
    process=$(leader "$1") || return 1
    shift
    nsenter --target "$process" --all env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive "$@"
}

# into_machine NAME FOLDER FILE…: copies files there.
into_machine() {
    local name=$1 folder=$2
    shift 2
    tar -c --transform 's,.*/,,' -P "$@" | in_machine "$name" tar -x -C "$folder" --no-same-owner
}

# machine_down NAME [SIGNAL]: orderly; KILL is a power cut.
machine_down() {
    local process
    process=$(leader "$1") || true
    if [ "${2:-}" = KILL ]; then
        kill -KILL "$process" 2>/dev/null || true
    else
        in_machine "$1" systemctl poweroff 2>/dev/null || true
        until_true 90 is_gone "${MACHINES[$1]}" || kill -KILL "$process" "${MACHINES[$1]}" 2>/dev/null || true
    fi
    wait "${MACHINES[$1]}" 2>/dev/null || true
    unset "MACHINES[$1]"
}

is_gone() { ! kill -0 "$1" 2>/dev/null; }

# machines_down: at the end of a case, all of them and what they wrote.
machines_down() {
    local name
    for name in "${!MACHINES[@]}"; do machine_down "$name" KILL; done
    [ -z "$LAYERS" ] || rm -rf --one-file-system "$LAYERS"
}
