# `rivulet collect` on a terminal: what it waits for at once, the whole width, sums where rows do not fit, filters.
site a b
config c collector
COLLECT="$BIN/rivulet collect --config $LAB/c.yaml --every 1s"

terminal t 150 24 c
runs t "$COLLECT"
must "at once who it is" until_true 30 sees t '^collector in network lab'
must "and what it waits for" until_true 30 sees t '^waiting for readings; a table follows every 1 s'
must "and that nobody is heard" until_true 30 sees t '^no node is heard yet'
agent_up a "" "labels: {site: hill, owner: a-person-with-a-long-name}"
must "the table" until_true 60 sees t 'bench +21\.5 °C'
must "labels where there is room" sees t 'site=hill'
must "the whole width" until_true 30 eval '[ "$(wide t)" -gt 100 ]'
resizes t 60 24
must "the width of another size" until_true 30 within t 60
must "still with values" until_true 30 sees t 'bench +21\.5'
many="sensors:"
for number in $(seq 12); do
    many+="
  - {driver: command, run: [/bin/echo, \"$number\"], every: 500ms, name: many-$number, unit: Cel}"
done
agent_up b "$many"
resizes t 100 9
must "rows that do not fit are summed up" until_true 60 sees t '(more channels|[0-9]+ channels)'
resizes t 100 30
must "all of them where they fit" until_true 60 sees t 'many-12'
types t C-c
must "Ctrl-C ends it" until_true 60 sees t '^\$ *$'

runs t "clear; $COLLECT --node 'b*' --channel 'many-1?'"
# The agents have to find the new one: on a machine that builds something else, that can take a minute.
must "only what was asked for" until_true 90 sees t '^[a-z]* +many-10'
# In the table; that none of those received matched yet may be said before, with their names.
must "none of the other channels" sees_not t '^[a-z]* +many-2'
must "nor of the other node" sees_not t '^[a-z]* +bench'
types t C-c
must "Ctrl-C ends that too" until_true 60 sees t '^\$ *$'
tm_down
