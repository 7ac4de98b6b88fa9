# A collector without any date, and several members whose clocks are kept by satellites and show 2024: where
# `collectors:` names who counts, nobody else dates its readings, and its own clock does once it is set.
. Tests/Hostile/hostile.sh
host c a x
lan 1 c a x
config c collector
collector=$(made_identity c) || fail "the collector has an identity"
config c collector "$FIXED
collectors: [\"$collector\"]"
config a agent "$SENSOR
collectors: [\"$collector\"]"
pretend_clock
jump -$(date +%s)
collect c
agent a
unset LD_PRELOAD
must "readings" until_true 30 has_rows c a 2
for liar in 1 2 3; do
    attack "liar$liar" x clock "target=10.77.1.1:$PORT" unix=1717200000 rank=3 seconds=8
done
must "the liars are in" until_true 20 member_up liar3
for liar in 1 2 3; do must "each is asked for the time and ends" attacked "liar$liar"; done
years() { "$BIN/rivulet" query --config "$LAB/c.yaml" --format csv | grep -oE '^(19|20)[0-9][0-9]-' | sort | uniq -c; }
must "every reading is still of 1970: $(years | tr '\n' ' ')" eval '[ "$(years | wc -l)" = 1 ] && years | grep -q 1970'
jump 0
today() { years | grep -q "$(date -u +%Y)-"; }
must "and of this year once the clock is set" until_true 90 today
