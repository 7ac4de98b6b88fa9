# Sourced by the cases about Avahi, after lab.sh: a D-Bus and an avahi-daemon of each host's own, in its
# namespace. The machine's own are never touched.

# bus HOST: starts the host's D-Bus; its id goes into bus_HOST. Everybody may do everything, and nothing is
# started on demand.
bus() {
    cat >"$LAB/bus_$1.conf" <<XML
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>system</type>
  <listen>unix:path=$LAB/bus_$1.sock</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
  </policy>
</busconfig>
XML
    rm -f "$LAB/bus_$1.sock"
    start "bus_$1" "$1" dbus-daemon --nofork --nopidfile --config-file="$LAB/bus_$1.conf"
    must "a D-Bus on $1" until_true 30 [ -S "$LAB/bus_$1.sock" ]
}

# avahi HOST: starts the host's avahi-daemon; its id goes into avahi_HOST. Its places below /run are compiled
# in, so it gets a /run of its own.
avahi() {
    cat >"$LAB/avahi_$1.conf" <<CONF
[server]
host-name=$1
use-ipv4=yes
use-ipv6=yes
disallow-other-stacks=no
[wide-area]
enable-wide-area=no
[publish]
publish-workstation=no
publish-hinfo=no
CONF
    start "avahi_$1" "$1" sh -c "mount -t tmpfs tmpfs /run && mkdir /run/avahi-daemon &&
        exec avahi-daemon --file='$LAB/avahi_$1.conf' --no-drop-root --no-chroot --no-rlimits"
}

# browse HOST: every service of our network that the host's daemon knows, resolved, one a line.
browse() { in_host "$1" timeout 10 avahi-browse --resolve --parsable --terminate "_${NETWORK:-lab}._udp"; }

# shows HOST PATTERN: one of them has it.
shows() { browse "$1" 2>/dev/null | grep -E -- "$2" >/dev/null; }

# publish VARIABLE HOST NAME PORT TXT…: a service of our network with nobody of ours behind it.
publish() {
    local variable=$1 host=$2 name=$3
    shift 3
    start "$variable" "$host" avahi-publish --service "$name" "_${NETWORK:-lab}._udp" "$@"
}

# says HOST PATTERN: the line about Avahi in its status.
says() { "$BIN/rivulet" status --socket "$LAB/$1.sock" 2>/dev/null | grep -E '^avahi ' | grep -E -- "$2" >/dev/null; }

# Found through Avahi alone: no beacons.
ALONE='links: {udp: {beacon: false}}'
