# On a terminal `collect` says at once that it waits and whom it hears, then draws one table over the
# other, as wide and as high as the terminal is, also after its size changed; what fell silent is red, nothing else.
host c a
lan 1 c a
config c collector
config a agent 'sensors:
  - {driver: system, every: 200ms, disks: []}
report: {wait: 0s}'
start screen c script -qfec "tty >$LAB/tty; stty cols 72 rows 10; exec $BIN/rivulet collect --config $LAB/c.yaml --every 1s" /dev/null
shown() { tail -c 4000 "$LAB/screen.out" | grep -qE "$1"; }
must "it waits, and says so" until_true 30 shown 'waiting for readings; a table follows every'
must "nobody is heard yet" until_true 30 shown 'no node is heard yet'
agent a
must "it says whom it hears" until_true 40 grep -qaE 'hears a: ' "$LAB/screen.out"
must "a table" until_true 40 shown 'NODE +CHANNEL'
must "what does not fit is summed up" until_true 30 shown '… [0-9]+ more channels'
# The last picture, line by line.
picture() { tail -c 6000 "$LAB/screen.out" | awk 'BEGIN { RS = "\033\\[H" } { last = shown; shown = $0 } END { print last }' |
    sed 's/\x1b\[[0-9;]*[A-Za-z]//g; s/\r//'; }
must "within 72 columns" [ "$(picture | LC_ALL=C.UTF-8 wc -L)" -le 72 ]
must "and within 10 lines" [ "$(picture | sed '/^$/d' | wc -l)" -le 10 ]
stty -F "$(cat "$LAB/tty")" cols 130 rows 40
must "a larger terminal shows all of it" until_true 30 shown 'net\.eth1\.received'
sleep 1
must "nothing is summed up now" [ "$(picture | grep -c 'more channels')" = 0 ]
must "nothing is red" [ "$(tail -c 3000 "$LAB/screen.out" | grep -c '\[31m')" = 0 ]
stop "$agent_a"
must "what fell silent is red" until_true 60 grep -qa '\[31m' "$LAB/screen.out"
