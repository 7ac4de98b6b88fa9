# Sourced beside Tests/Network/lab.sh: terminals in which programs run, and a person who types and looks.
# A terminal is a session of a tmux server that belongs to the lab. Every host has a home of its own.

SCREENS=()

tmux_here() { tmux -S "$LAB/tmux" -f Examples/tmux.conf "$@"; }

# terminal NAME HOST COMMAND…: a terminal of 100 columns and 40 lines on a host, in which the command runs.
terminal() {
    local name=$1 host=$2 command
    shift 2
    mkdir -p "$LAB/home_$host"
    printf -v command '%q ' ip netns exec "$NS-$host" env "$(bus_address "$host")" \
        "HOME=$LAB/home_$host" "XDG_STATE_HOME=$LAB/home_$host/state" LC_ALL=C.UTF-8 PS1='$ ' "$@"
    tmux_here new-session -d -s "$name" -x 100 -y 40 -c "$LAB/home_$host" "exec $command" ||
        fail "no terminal for $name"
    [ ${#SCREENS[@]} -gt 0 ] || PIDS+=("$(tmux_here display-message -p '#{pid}')")
    SCREENS+=("$name")
}

# types NAME TEXT…: each a line, with Enter.
types() {
    local name=$1 line
    shift
    for line; do
        tmux_here send-keys -t "$name" -l -- "$line"
        tmux_here send-keys -t "$name" Enter
    done
}

# presses NAME KEY…: single keys by tmux's names: Up, Down, Enter, Escape, C-c, y.
presses() {
    local name=$1
    shift
    tmux_here send-keys -t "$name" "$@"
}

# screen NAME: what stands on it now; long NAME: with what has scrolled away.
screen() { tmux_here capture-pane -p -J -t "$1"; }
long() { tmux_here capture-pane -p -J -S - -t "$1"; }

# shows NAME PATTERN, showed NAME PATTERN: on the screen now; now or before. Extended regular expressions.
# Not grep -q: who stops reading early ends the writer with an error.
shows() { screen "$1" | grep -E -- "$2" >/dev/null; }
showed() { long "$1" | grep -E -- "$2" >/dev/null; }
shows_not() { ! shows "$@"; }

# sees NAME PATTERN [SECONDS]: it appears, now or before, on this terminal.
sees() { until_true "${3:-40}" showed "$1" "$2" || fail "$1 sees no “$2”"; }

# looks_at NAME PATTERN [SECONDS]: it appears on the screen as it is now; misses NAME PATTERN: it goes from there.
looks_at() { until_true "${3:-40}" shows "$1" "$2" || fail "“$2” is not on the screen of $1"; }
misses() { until_true "${3:-40}" shows_not "$1" "$2" || fail "“$2” stays on the screen of $1"; }

# times NAME PATTERN: in how many lines it stands, with those that have scrolled away.
times() { long "$1" | grep -cE -- "$2"; }

# process NAME: the program that was started in the terminal.
process() { tmux_here display-message -p -t "$1" '#{pane_pid}'; }

# has_ended NAME [STATUS]: the program has, with this status. tmux may see the end of the terminal and miss that of its
# child, so it is told to look.
has_ended() {
    kill -CHLD "$(tmux_here display-message -p '#{pid}')"
    [ "$(tmux_here display-message -p -t "$1" '#{pane_dead} #{pane_dead_status}')" = "1 ${2:-0}" ]
}

at_failure() {
    local name
    for name in "${SCREENS[@]}"; do
        echo "-- terminal $name"
        long "$name" | sed '/^$/d' | tail -n 30
    done
}
