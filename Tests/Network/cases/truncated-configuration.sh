# Half a file is refused with file, line and column, and the agent does not start.
host a
config a agent "$SENSOR"
head -c 150 "$LAB/a.yaml" >"$LAB/half.yaml"
printf '\nlinks: {udp: {port: ' >>"$LAB/half.yaml"
! in_host a "$BIN/rivulet-agent" --config "$LAB/half.yaml" 2>"$LAB/half.err" || fail "it started"
must "line and column" grep -qE 'half\.yaml:[0-9]+:[0-9]+: ' "$LAB/half.err"
! "$BIN/rivulet" check "$LAB/half.yaml" >"$LAB/check.out" 2>&1 || fail "check passed"
must "check says the same" grep -qE 'half\.yaml:[0-9]+:[0-9]+: ' "$LAB/check.out"
