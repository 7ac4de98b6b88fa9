# An agent says that satellites keep its clock, and that this is 2024: nobody's readings move there, whether
# the collector's own clock is kept by somebody or not.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector "$FIXED"
config a agent "$SENSOR"
years() { "$BIN/rivulet" query --config "$LAB/c.yaml" --format csv | grep -oE '20[0-9][0-9]-' | sort | uniq -c; }
lied() { years | grep -q 2024; }
# try WHAT LIARS
try() {
    local liar
    agent a
    must "readings ($1)" until_true 30 has_rows c a 2
    for liar in $(seq "$2"); do
        attack "liar$liar" x clock "target=10.77.1.1:$PORT" unix=1717200000 rank=3 seconds=8
    done
    must "the liar is in ($1)" until_true 20 member_up liar1
    for liar in $(seq "$2"); do must "it is asked for the time and ends ($1)" attacked "liar$liar"; done
    sleep 1.5
    must "no reading moved to 2024 ($1): $(years | tr '\n' ' ')" eval '! lied'
    must "this year's are there ($1)" eval "years | grep -q '$(date +%Y)-'"
    stop "$agent_a"
}
collect c
try "a clock of its own" 1
stop "$collect_c"
synchronised collect c
try "a synchronised clock, and three that say the same" 3
