# The control socket's folder is made if only it is missing, for all to look into; where it may not be
# made, the socket is in the state directory, which `rivulet status --config` finds.
host a b
lan 1 a b
config a agent "$SENSOR"
sed -i "s|^control:.*|control: $LAB/run/rivulet.sock|" "$LAB/a.yaml"
old=$(umask); umask 077; agent a; umask "$old"
must "the agent answers" until_true 30 test -S "$LAB/run/rivulet.sock"
must "status finds it" "$BIN/rivulet" status --config "$LAB/a.yaml"
must "others may look into the folder" [ "$(stat -c %a "$LAB/run")" = 755 ]
must "but not connect" [ "$(stat -c %a "$LAB/run/rivulet.sock")" = 600 ]
config b agent "$SENSOR"
sed -i "s|^control:.*|control: $LAB/none/there/rivulet.sock|" "$LAB/b.yaml"
agent b
must "a socket in the state directory" until_true 30 test -S "$LAB/b/control.sock"
must "and the log says where" until_true 30 grep -q "the control socket is $LAB/b/control.sock" "$LAB/agent_b.err"
must "status finds that too" "$BIN/rivulet" status --config "$LAB/b.yaml"
must "lines of the log have times" grep -qE '^20[0-9-]{8} [0-9:]{8} b is ' "$LAB/agent_b.err"
