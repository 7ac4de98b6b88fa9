#!/usr/bin/env bash
# Builds the packages rivulet-agent and rivulet into .build-packages. Two builds of one commit give equal bytes.
#
# deploy/build-packages.sh               for this machine: amd64, Debian 12 or 13
# deploy/build-packages.sh arm64         for 64-bit ARM with Debian 13 or Raspberry Pi OS trixie
# deploy/build-packages.sh amd64-trixie  for amd64 with Debian 13, in the root of deploy/debian13.sh; as root
set -euo pipefail
. "$(dirname "$0")/common.sh"
target=${1:-amd64}
OUT=$TOP/.build-packages
ROOT13=$TOP/.build-debian13/root
[[ $target = amd64 || $target = arm64 || $target = amd64-trixie ]] ||
    die "usage: deploy/build-packages.sh [amd64|arm64|amd64-trixie]"
need debhelper fakeroot jq binutils
debian=$(. /etc/os-release && echo "$VERSION_ID")

# programs FOLDER: rivulet-agent and rivulet, stripped.
programs() {
    local from
    case $target in
        amd64)
            release_build rivulet-agent rivulet
            from=$BIN
            ;;
        amd64-trixie)
            # In a copy of its own: the tests of that compiler are built meanwhile.
            as_root env -u BIN DEBIAN13_FOLDER=/packages deploy/debian13.sh bash -c '. deploy/common.sh; release_build rivulet-agent rivulet >&2'
            from=$ROOT13/packages/.build/release
            ;;
        arm64)
            [ -n "${ARM64_BIN:-}" ] || deploy/build-arm64.sh
            from=${ARM64_BIN:-$TOP/.build-arm64/bin}
            ;;
    esac
    local program
    for program in rivulet-agent rivulet; do
        strip_program "$from/$program" "$1/$program"
        readelf -lW "$1/$program" | grep GNU_RELRO >/dev/null || die "$program: stripped, it has lost RELRO"
        chmod 755 "$1/$program"
    done
}

# strip_program FROM TO. The build id goes by what is stripped, where the folder of the build stands.
# strip of Debian 12 loses the RELRO segment of what lld links; LLVM's, which comes with Swift there, does not.
strip_program() {
    local sections=(--remove-section=.comment --remove-section=.note.gnu.build-id)
    if [ "$target" = arm64 ]; then
        cp "$1" "$2"
    elif [ "$target" = amd64-trixie ]; then
        as_root chroot "$ROOT13" strip "${sections[@]}" -o /tmp/stripped "${1#"$ROOT13"}"
        cp "$ROOT13/tmp/stripped" "$2"
    elif command -v llvm-objcopy >/dev/null; then
        llvm-objcopy --strip-all "${sections[@]}" "$1" "$2"
    else
        strip "${sections[@]}" -o "$2" "$1"
    fi
}

# run PROGRAM ARGUMENT…: one of the programs, on this machine.
run() {
    local program=$1
    shift
    case $target in
        amd64) "$work/programs/$program" "$@" ;;
        # Swift reads its arguments in /proc.
        amd64-trixie)
            as_root unshare --mount --propagation private \
                sh -euc 'mount -t proc proc "$0/proc"; exec chroot "$0" "$@"' \
                "$ROOT13" "/packages/.build/release/$program" "$@"
            ;;
        arm64) qemu-aarch64-static -L "$TOP/.build-arm64/sysroot" "$work/programs/$program" "$@" ;;
    esac
}

# manuals FOLDER: from the tables that --help is made from; completions likewise.
manuals() {
    local folder=$1 dump=$work/help.json command
    local name=(--arg version "$version" --arg date "$(date -u -d "@$SOURCE_DATE_EPOCH" +%F)")
    mkdir -p "$folder/man/agent" "$folder/man/rivulet" "$folder/completions"
    run rivulet --experimental-dump-help >"$dump"
    jq -r "${name[@]}" --arg command "" -f deploy/debian/man.jq "$dump" >"$folder/man/rivulet/rivulet.1"
    jq -r '.command.subcommands[] | select(.shouldDisplay and .commandName != "help") | .commandName' "$dump" |
        while read -r command; do
            jq -r "${name[@]}" --arg command "$command" -f deploy/debian/man.jq "$dump" \
                >"$folder/man/rivulet/rivulet-$command.1"
        done
    run rivulet-agent --help |
        awk -v "version=$version" -v "date=${name[5]}" -f deploy/debian/man-agent.awk \
            >"$folder/man/agent/rivulet-agent.1"
    # A shell reads them, and does not run them.
    run rivulet --generate-completion-script bash | sed '1{/^#!/d}' >"$folder/completions/rivulet"
    run rivulet --generate-completion-script zsh >"$folder/completions/_rivulet"
    run rivulet --generate-completion-script fish >"$folder/completions/rivulet.fish"
}

case $target in
    amd64)
        [ "$(dpkg --print-architecture)" = amd64 ] || die "this machine is no amd64: deploy/build-packages.sh arm64"
        [[ $debian = 12 || $debian = 13 ]] || die "this is not Debian 12 or 13: deploy/build-packages.sh amd64-trixie"
        architecture=amd64 release=$debian
        ;;
    amd64-trixie) architecture=amd64 release=13 ;;
    arm64)
        need qemu-user-static
        architecture=arm64 release=13
        ;;
esac
version=$(sed -n 's/.*static let text = "\(.*\)".*/\1/p' Sources/NodeShell/Starting/ProgramVersion.swift)
# The commit's time; without git the changelog's.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null ||
    date -d "$(sed -n 's/^ -- .*>  //p' deploy/debian/changelog | head -n 1)" +%s)
export SOURCE_DATE_EPOCH
work=$OUT/$target
rm -rf "$work"
mkdir -p "$work/programs"
cp -a deploy/debian "$work/debian"
cp -a boards "$work/boards"
mkdir "$work/deploy"
cp -a deploy/examples deploy/*.md "$work/deploy/"
programs "$work/programs"
manuals "$work/programs"
sed -i "1s/(.*)/($version-1~deb$release)/" "$work/debian/changelog"
if [ "$target" != amd64 ]; then
    for package in rivulet-agent rivulet; do
        deploy/debian/depends.sh "$ROOT13" "$work/programs/$package" >"$work/debian/$package.depends"
    done
fi
[ "$release" = 12 ] || : >"$work/debian/merged-usr"
find "$work" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
(cd "$work" && umask 022 && dpkg-architecture -a "$architecture" -f -c fakeroot debian/rules binary) \
    >"$OUT/$target.log" 2>&1 || { tail -n 20 "$OUT/$target.log"; die "the packages could not be built"; }
for package in rivulet-agent rivulet; do
    file=${package}_$version-1~deb${release}_$architecture.deb
    echo ".build-packages/$file: $(($(stat -c %s "$OUT/$file") / 1000)) kB"
done
