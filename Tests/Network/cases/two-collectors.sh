# The collector of record dies and stays away; another takes over. Together they have everything, each once.
host c d a
lan 1 c d a
config c collector
config d collector
config a agent "$SENSOR"
collect c
agent a
must "readings at the first" until_true 30 has_rows c a 3
collect d
sleep 3
stop "$collect_c" KILL
must "readings at the second" until_true 40 has_rows d a 3
must "the agent is rid of them" until_true 40 at_most a readingsWaiting 15
last=$(($(member a readings) - 15))
together() {
    [ "$(sqlite3 "$LAB/c/readings.sqlite" "ATTACH '$LAB/d/readings.sqlite' AS d;
        SELECT count(*) FROM (SELECT sequence FROM main.readings UNION SELECT sequence FROM d.readings)
        WHERE sequence <= $last" 2>/dev/null)" = "$last" ]
}
must "all are in one of the two" until_true 30 together
