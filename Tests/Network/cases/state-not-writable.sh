# A state directory that cannot be made: the key lives in memory, and status says so.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
rm -rf "$LAB/a"
: >"$LAB/a" # a file where the directory should be
collect c
agent a
must "readings all the same" until_true 30 has_rows c a
must "status says ephemeral" bash -c "'$BIN/rivulet' status --json --socket '$LAB/a.sock' | grep -q '\"ephemeral\":true'"
