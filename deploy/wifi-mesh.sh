#!/usr/bin/env bash
# A Wi-Fi network between boards, without an access point: 802.11s mesh, or ad-hoc (IBSS) where the
# driver has no mesh. See wifi-without-access-point.md.
set -euo pipefail

usage() {
    cat >&2 <<'TEXT'
usage: wifi-mesh.sh up INTERFACE NAME [OPTION…]
       wifi-mesh.sh keep INTERFACE NAME [OPTION…]
       wifi-mesh.sh down INTERFACE
       wifi-mesh.sh status INTERFACE
NAME, the channel and the mode must be the same on all boards. `keep` does not return: it joins again
whenever the radio was lost and is back, and leaves when it is ended.
  --channel N         1 to 13 (default 1), or 36 and up in the 5 GHz band
  --mode MODE         mesh, adhoc or auto (default): mesh if the driver has it, otherwise adhoc
  --country CC        two letters; without it the radio may refuse channels, or everything
  --mtu N             256 to 2304 (default 1500)
  --ipv4              an IPv4 link-local address too (169.254.…, from the hardware address)
  --forward           mesh only: the kernel forwards between boards that do not hear each other
  --passphrase FILE   mesh only: encryption by SAE, with the passphrase in this file
TEXT
    exit 64
}

die() {
    echo "wifi-mesh.sh: $*" >&2
    exit 1
}

# phy: the radio that the interface belongs to.
phy() { cat "/sys/class/net/$interface/phy80211/name" 2>/dev/null; }

# supports MODE: the driver says so, in iw's words.
supports() {
    [ "$(iw phy "$(phy)" info | sed -n '/Supported interface modes:/,/^\t[^\t]/p' |
        grep -cx "[[:space:]]*\* $1")" -gt 0 ]
}

# frequency CHANNEL: in MHz.
frequency() {
    case $1 in
        *[!0-9]* | '') die "no channel: $1" ;;
    esac
    if [ "$1" -ge 1 ] && [ "$1" -le 13 ]; then
        echo $((2407 + 5 * $1))
    elif [ "$1" -ge 36 ] && [ "$1" -le 177 ]; then
        echo $((5000 + 5 * $1))
    else
        die "no channel: $1"
    fi
}

# released: nothing else on this board manages the interface. wpa_supplicant's own service would keep a
# Wi-Fi Direct device on the radio, and then Broadcom's driver says that it is busy.
released() {
    if command -v nmcli >/dev/null && nmcli -t general status >/dev/null 2>&1; then
        nmcli device set "$interface" managed no || true
    fi
    if command -v systemctl >/dev/null &&
        systemctl -q is-active "wpa_supplicant@$interface" 2>/dev/null; then
        systemctl stop "wpa_supplicant@$interface"
    fi
}

# blocked: somebody switched this radio off.
blocked() { [[ $(cat "/sys/class/net/$interface/phy80211/"rfkill*/{soft,hard}) == *1* ]]; }

# joined: the interface is in a network; it is not after it was down, nor after rfkill.
joined() { [[ $(iw dev "$interface" info 2>/dev/null) == *channel* ]]; }

# link_local_ipv4: 169.254.X.Y with X from 1 to 254 (RFC 3927), out of the hardware address: the same
# after every start. Two boards with the same last two bytes would share it; Rivulet needs only IPv6.
link_local_ipv4() {
    local bytes
    IFS=: read -ra bytes </sys/class/net/"$interface"/address
    echo "169.254.$((0x${bytes[4]} % 254 + 1)).$((0x${bytes[5]}))"
}

# set_type TYPE: what kind of interface it is; only possible while it is down.
set_type() {
    ip link set "$interface" down
    iw dev "$interface" set type "$1" ||
        die "$interface cannot become $1: wpa_supplicant, iwd or NetworkManager may use the radio"
}

up_mesh() {
    set_type mp
    if [ -n "$passphrase" ]; then
        up_secured
    else
        ip link set "$interface" up
        iw dev "$interface" mesh join "$name" freq "$(frequency "$channel")"
    fi
    # Rivulet forwards by itself, and chooses ways by what they lose.
    iw dev "$interface" set mesh_param mesh_fwding="$forward"
}

# up_secured: wpa_supplicant does the handshakes between boards.
up_secured() {
    command -v wpa_supplicant >/dev/null || die "--passphrase needs the package wpasupplicant"
    mkdir -p "$run"
    (
        umask 077
        cat >"$run/$interface.conf" <<CONF
p2p_disabled=1
user_mpm=1
network={
    ssid="$name"
    mode=5
    frequency=$(frequency "$channel")
    key_mgmt=SAE
    ieee80211w=2
    sae_password="$(head -n 1 "$passphrase")"
}
CONF
    )
    wpa_supplicant -B -D nl80211 -i "$interface" -c "$run/$interface.conf" \
        -P "$run/$interface.pid" >/dev/null || die "wpa_supplicant did not start"
    local tries=100
    until joined; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || die "wpa_supplicant did not join the mesh"
        sleep 0.1
    done
}

# With a fixed cell: boards that start at the same time would each make one of their own and stay apart.
up_adhoc() {
    [ -z "$passphrase" ] || die "ad-hoc has no encryption by SAE; Rivulet's own remains"
    [ "$forward" = 0 ] || die "ad-hoc has no forwarding; Rivulet's own remains"
    set_type ibss
    ip link set "$interface" up
    iw dev "$interface" ibss join "$name" "$(frequency "$channel")" HT20 fixed-freq "$(cell)"
}

# cell: a BSSID out of the network's name: locally administered, for one receiver.
cell() { echo "$name" | sha256sum | sed 's/^\(..\)\(..\)\(..\)\(..\)\(..\).*/02:\1:\2:\3:\4:\5/'; }

up() {
    ! blocked || die "the radio of $interface is switched off; rfkill unblock wifi"
    released
    [ -z "$country" ] || iw reg set "$country"
    if [ "$mode" = auto ]; then
        if supports "mesh point"; then mode=mesh; else mode=adhoc; fi
    fi
    case $mode in
        mesh) supports "mesh point" || die "the driver of $interface has no 802.11s mesh" ;;
        adhoc) supports IBSS || die "the driver of $interface has no ad-hoc mode" ;;
        *) usage ;;
    esac
    left
    "up_$mode"
    ip link set "$interface" mtu "$mtu"
    # Power saving delays multicast, by which boards find each other. Not every driver can be told.
    iw dev "$interface" set power_save off 2>/dev/null || true
    if [ "$ipv4" = 1 ]; then
        ip addr replace "$(link_local_ipv4)/16" scope link dev "$interface"
    fi
    echo "$interface: $mode network $name, channel $channel"
}

# left: whatever network the interface was in.
left() {
    local supplicant
    if supplicant=$(cat "$run/$interface.pid" 2>/dev/null); then
        kill "$supplicant" 2>/dev/null || true
        while kill -0 "$supplicant" 2>/dev/null; do sleep 0.05; done
        rm -f "$run/$interface.pid" "$run/$interface.conf"
    fi
    iw dev "$interface" mesh leave 2>/dev/null || true
    iw dev "$interface" ibss leave 2>/dev/null || true
}

down() {
    left
    ip addr flush dev "$interface"
    set_type managed
    echo "$interface: down"
}

keep() {
    trap 'down; exit 0' TERM INT
    while :; do
        # In a shell of its own, so that what fails now is tried again.
        joined || blocked || (up) || true
        sleep 2 &
        wait $! || true
    done
}

status() {
    iw dev "$interface" info
    echo "boards in radio reach:"
    iw dev "$interface" station dump | grep -E '^Station|signal:|plink:|inactive time:' || true
}

[ $# -ge 2 ] || usage
action=$1 interface=$2 run=${RUNTIME_DIRECTORY:-/run/rivulet-wifi}
shift 2
channel=1 mode=auto country='' mtu=1500 ipv4=0 forward=0 passphrase='' name=''
if [ "$action" = up ] || [ "$action" = keep ]; then
    [ $# -ge 1 ] && [[ $1 != --* ]] || usage
    name=$1
    shift
    [ ${#name} -le 32 ] || die "NAME has more than 32 bytes"
fi
while [ $# -gt 0 ]; do
    case $1 in
        --ipv4) ipv4=1 ;;
        --forward) forward=1 ;;
        --channel | --mode | --country | --mtu | --passphrase)
            [ $# -ge 2 ] || usage
            printf -v "${1#--}" %s "$2"
            shift
            ;;
        *) usage ;;
    esac
    shift
done
command -v iw >/dev/null || die "needs iw (package iw)"
[ -n "$(phy)" ] || die "$interface is no Wi-Fi interface"
case $action in
    up | keep | down | status) "$action" ;;
    *) usage ;;
esac
