# Somebody removes the store's files while the collector runs, or puts others in their place: it says so, goes on with what
# is there, and acknowledges nothing that is in no file.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
# holds NUMBER: the store has so many readings at least.
holds() { [ "$(stored_readings c)" -ge "$1" ] 2>/dev/null; }
told() { [ "$(grep -c "was removed, moved or replaced" "$LAB/collect_c.err")" = "$1" ]; }
collect c
agent a
must "readings are stored" until_true 30 holds 20
cp -r "$LAB/c" "$LAB/copy"
rm "$LAB"/c/readings.sqlite*
must "it says what happened" until_true 30 told 1
must "readings are stored again" until_true 40 holds 20
must "and it says so once" told 1
rm "$LAB"/c/readings.sqlite*
cp "$LAB"/copy/readings.sqlite* "$LAB/c/"
must "another file is noticed, too" until_true 30 told 2
before=$(stored_readings c)
must "and goes on" until_true 40 holds $((before + 20))
before=$(stored_readings c)
stop "$collect_c"
must "nothing of it is missing in the end" holds "$before"
collect c
must "nor after a restart" until_true 40 holds $((before + 20))
