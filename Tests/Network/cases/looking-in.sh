# The collector runs as a service that prints nothing; `rivulet collect` with its configuration looks in beside
# it, stores nothing and leaves nothing behind.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
start service c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format none
agent a
must "readings are stored" until_true 40 has_all c
start look c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format csv --every 1s
looks() { [ "$(grep -c bench "$LAB/look.out")" -ge 3 ]; }
must "rows are seen" until_true 40 looks
must "it says that it looks in" grep -q "the collector is rivulet (process $service); looking in" "$LAB/look.err"
must "the service prints nothing" [ ! -s "$LAB/service.out" ]
stop "$look"
must "the service still stores" until_true 30 has_up_to c "$(member a readings)"
must "nothing is left in the current folder" [ ! -e lock ]
must "a second service does not look in" bash -c \
    "! timeout 20 '$BIN/rivulet' collect --config '$LAB/c.yaml' --format none 2>'$LAB/second.err'"
must "and says why" grep -q "in use by rivulet (process $service)" "$LAB/second.err"
