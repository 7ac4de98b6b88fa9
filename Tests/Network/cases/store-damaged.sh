# A store that is no database any more is kept aside, and collection goes on into a new one.
host c a
lan 1 c a
mkdir -p "$LAB/c"
config c collector
config a agent "$SENSOR"
head -c 20000 /dev/urandom >"$LAB/c/readings.sqlite"
collect c
agent a
must "it says what it did" until_true 30 grep -q "readings.sqlite.*kept as" "$LAB/collect_c.err"
must "the old file is there" [ -s "$LAB"/c/readings.sqlite.*-1 ]
must "all are there" until_true 40 has_all c
