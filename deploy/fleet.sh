#!/usr/bin/env bash
# Brings a package to one board after the other over ssh: deploy/fleet.sh FILE.deb [USER@]HOST…
# A board is done when it runs that version and its agent is healthy. The first that does not get there ends it: no
# further board is touched. A board whose new agent does not work goes back by itself to the one before.
# The users of the boards must be root or able to `sudo` without a password. SSH: another command than `ssh`.
set -euo pipefail
. "$(dirname "$0")/common.sh"
# What a board may take for all of it: installing, and deciding within a minute.
SECONDS_MAX=300
# What an agent may take until it is healthy.
HEALTHY_WITHIN=60
[ $# -ge 2 ] || die "usage: deploy/fleet.sh FILE.deb [USER@]HOST…"
file=$1
shift
[ -r "$file" ] || die "$file: no such file"
# Of a word that begins with a hyphen ssh would make an option, even one that runs a program here.
for host; do
    [[ $host != -* && -n $host ]] || die "'$host' is not a host; deploy/fleet.sh FILE.deb [USER@]HOST…"
done
field() { dpkg-deb -f "$file" "$1" 2>/dev/null; }
package=$(field Package) && [[ $package = rivulet-agent || $package = rivulet ]] ||
    die "$file is not a package of Rivulet"
version=$(field Version) architecture=$(field Architecture)
# A board whose power goes in between says nothing more: ssh alone would wait for hours.
ssh=(${SSH:-ssh -o BatchMode=yes -o ConnectTimeout=10 -o ServerAliveInterval=10 -o ServerAliveCountMax=6})

# on HOST COMMAND: in a shell there.
on() { "${ssh[@]}" "$1" "$2"; }

# What runs there as root; it reads the package from its standard input.
install='set -eu
root=; [ "$(id -u)" = 0 ] || root="sudo -n"
folder=$(mktemp -d)
trap "rm -rf $folder" EXIT
chmod 755 "$folder"
cat >"$folder/package.deb"
$root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --allow-downgrades --reinstall \
    -o Dpkg::Options::=--force-confold "$folder/package.deb" >/dev/null'

# Whether the update is decided, and how: `pending`, or the version and whether the agent is healthy.
look='if [ -e /var/lib/rivulet-update ]; then echo pending; exit; fi
root=; [ "$(id -u)" = 0 ] || root="sudo -n"
echo "$(dpkg-query -W -f "\${Version}" '$package')" "$($root rivulet-agent --health 2>&1 | head -n 1)"'

# update HOST: prints one line.
update() {
    local host=$1 started=$SECONDS there before said decided=''
    there=$(on "$host" 'dpkg --print-architecture
        dpkg-query -W -f "\${Version}\n" '$package' 2>/dev/null || echo none') ||
        { echo "$host: cannot be reached"; return 1; }
    before=${there#*$'\n'} there=${there%%$'\n'*}
    [ "$there" = "$architecture" ] || { echo "$host is $there, and the package for $architecture"; return 1; }
    on "$host" "$install" <"$file" || { echo "$host: $package $version could not be installed, see above"; return 1; }
    while sleep 2; do
        [ $((SECONDS - started)) -lt $SECONDS_MAX ] || { echo "$host: nothing certain after $SECONDS_MAX s"; return 1; }
        said=$(on "$host" "$look" 2>/dev/null) || continue
        [ "$said" != pending ] || continue
        decided=${decided:-$SECONDS}
        # Where nothing had to be decided, as with the same version again, the agent has only just started.
        [[ $package = rivulet-agent && ${said%% *} = "$version" && ${said#* } != "healthy: "* ]] &&
            [ $((SECONDS - decided)) -lt $HEALTHY_WITHIN ] || break
    done
    [ "${said%% *}" = "$version" ] ||
        { echo "$host went back to ${said%% *}: journalctl -u rivulet-update -u rivulet-agent there"; return 1; }
    [ "$package" != rivulet-agent ] || [[ ${said#* } = "healthy: "* ]] ||
        { echo "$host has $version, but its agent does not work: ${said#* }"; return 1; }
    echo "$host: $before → $version in $((SECONDS - started)) s"
}

done=0
for host; do
    update "$host" || die "stopped: $done of $# boards have $version; the rest is as before"
    done=$((done + 1))
done
echo "all $done boards have $package $version"
