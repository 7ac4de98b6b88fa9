# `rivulet top` as a person sees it: nodes, channels, a filter, one node, other sizes, and how it ends.
site
collector_up
agent_up a "" "labels: {site: hill}"
must "readings" more_readings 20
TOP="$BIN/rivulet top --socket $LAB/c.sock"

terminal t 100 30
runs t "echo earlier; $TOP"
must "who is asked" until_true 30 sees t '^c in lab · .* of .* nodes online'
must "the agent with its state" until_true 30 sees t '^a +online +agent'
must "its labels" until_true 30 sees t 'site=hill'
must "the keys" until_true 30 sees t 'q quit'
must "a line is no wider than the terminal" until_true 30 within t 100

types t 2
must "channels with values" until_true 30 sees t '^a +bench +21\.5 °C'
must "what counts goes up, and its line too" until_true 60 sees t 'count.*▁.*█'
types t /
types t -l cou
must "a filter while it is typed" until_true 30 sees_not t bench
types t q
must "letters of a filter are no commands" until_true 30 sees t '^/couq'
types t Escape
must "all channels again" until_true 30 sees t bench
types t Enter
must "one node is followed" until_true 30 sees t 'online · agent · direct'
must "with all its channels" until_true 30 sees t '^bench +21\.5'
must "and its PeerID" until_true 30 sees t '([a-z2-7]{5}-){4}'
types t Escape
must "back" until_true 30 sees t '2 Channels'
types t 1
types t r
must "sorted the other way round" until_true 30 sees t 'NODE▼'
types t 3
must "links" until_true 30 sees t '^c +a +ethernet'
types t '?'
must "help" until_true 30 sees t 'follow the marked node'
types t x

resizes t 40 12
must "a narrow terminal" until_true 30 sees t '^c in lab'
must "keeps to its width" until_true 30 within t 40
resizes t 200 50
must "a wide one" until_true 30 sees t '6 Drops'

collector_down
must "a collector that is gone is told, and what was seen stays" until_true 60 sees t 'no node answers'
must "what was seen" sees t 'ethernet'
collector_again
must "and it comes back" until_true 60 sees_not t 'no node answers'

types t q
must "q restores the terminal" is_as_before t
must "and what was on it" sees t '^earlier'
for end in C-c TERM HUP; do
    runs t "clear; $TOP"
    must "again" until_true 30 sees t 'nodes online'
    case $end in
    C-c) types t C-c ;;
    *) kill "-$end" "$(pgrep -P "$(tm display-message -p -t t '#{pane_pid}')" rivulet)" ;;
    esac
    must "$end restores the terminal" is_as_before t
done

# Not on a terminal: once, as text.
"$BIN/rivulet" top --socket "$LAB/c.sock" >"$LAB/top.txt" || fail "top into a file"
must "text has the nodes" grep -qE '^a +online' "$LAB/top.txt"
must "and the channels" grep -qE '^a +bench +21\.5 °C' "$LAB/top.txt"
must "without any escape" sh -c "! grep -q \$(printf '\\033') '$LAB/top.txt'"
"$BIN/rivulet" top --socket "$LAB/a.sock" >"$LAB/agent.txt" 2>&1 && fail "an agent is no collector"
must "an agent is told to be none" grep -q 'is not a collector' "$LAB/agent.txt"
tm_down
