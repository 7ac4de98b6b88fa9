# The collector starts long after the agent: what the agent kept is not shown as of now.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
agent a
kept() {
    local waiting
    waiting=$(status a 2>/dev/null | tr ',{}' '\n' | sed -n 's/^ *"readingsWaiting": *//p')
    [ "${waiting:-0}" -ge 25 ]
}
must "readings wait" until_true 30 kept
collect c
must "readings in the table" until_true 30 has_rows c a 3
# Five a second come; the backlog is far more. A window of one second may hold one or two extra.
must "no window holds the backlog" bash -c \
    "! grep -oE '\"count\":[0-9]+' '$LAB/collect_c.out' | grep -vqE ':[0-7]\$'"
