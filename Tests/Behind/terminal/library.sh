# Sourced by the cases: terminals that a person would sit at. Each is a session of a tmux server of the case's own.

# tm ARGUMENT…: that server.
tm() { env -u TMUX tmux -S "$LAB/tmux" -f /dev/null "$@"; }

# terminal NAME COLUMNS LINES [HOST]: a shell in a terminal of this size, in the namespace of a host.
terminal() {
    local shell="env PS1='\$ ' TERM=screen-256color bash --norc --noprofile"
    [ -z "${4:-}" ] || shell="ip netns exec $NS-$4 $shell"
    tm new-session -d -s "$1" -x "$2" -y "$3" "$shell"
    tm set-option -g status off
    # Without it a session takes the size of the server's first one.
    tm set-option -g window-size manual
    tm resize-window -t "$1" -x "$2" -y "$3"
    until_true 30 sees "$1" '^\$'
}

# runs NAME COMMAND: typed into the shell.
runs() { tm send-keys -t "$1" -l "$2" && tm send-keys -t "$1" Enter; }

# types NAME KEY…: keys as tmux calls them.
types() { tm send-keys -t "$@"; }

# seen NAME: what is on the screen now.
seen() { tm capture-pane -p -t "$1"; }

# sees NAME PATTERN: whether a line of it matches.
sees() { seen "$1" | grep -E -- "$2" >/dev/null; }

sees_not() { ! sees "$@"; }

# wide NAME: columns of the widest line.
wide() { seen "$1" | sed 's/ *$//' | LC_ALL=C.UTF-8 wc -L; }

# within NAME COLUMNS: no line is wider.
within() { [ "$(wide "$1")" -le "$2" ]; }

# resizes NAME COLUMNS LINES
resizes() { tm resize-window -t "$1" -x "$2" -y "$3"; }

# is_as_before NAME: the shell is back, on its own screen, with keys that are shown and a cursor.
is_as_before() {
    until_true 30 sees "$1" '^\$ *$' || return 1
    [ "$(tm display-message -p -t "$1" '#{alternate_on} #{cursor_flag}')" = "0 1" ] || return 1
    runs "$1" "stty -a | grep -o -- '-*icanon\|-*echo \|-*isig' | tr '\n' ' '; echo END"
    until_true 30 sees "$1" '^isig icanon echo  *END'
}

at_failure() {
    local name
    for name in $(tm list-sessions -F '#{session_name}' 2>/dev/null); do
        echo "-- terminal $name"
        seen "$name" | sed 's/[[:space:]]*$//' | cat -s
    done
    tm_down
}

tm_down() {
    tm kill-server 2>/dev/null || true
}
