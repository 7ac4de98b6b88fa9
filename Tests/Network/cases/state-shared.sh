# Two processes on one state directory: the second ends and names the first. A killed one leaves no lock.
host c a
lan 1 c a
config a agent "$SENSOR"
config c agent "links: {udp: {beacon: false}}
$SENSOR"
sed -i "s,^state: .*,state: $LAB/a," "$LAB/c.yaml"
agent a
must "the first runs" until_true 30 status a
start second c "$BIN/rivulet-agent" --config "$LAB/c.yaml"
gone() { ! kill -0 "$second" 2>/dev/null; }
must "the second ends" until_true 30 gone
wait "$second"
must "with a status that says so" [ $? != 0 ]
must "it names the program" grep -q "$LAB/a: .*in use by rivulet-agent (process $agent_a)" "$LAB/second.err"
must "in one line" [ "$(wc -l <"$LAB/second.err")" = 1 ]
must "the first lives" kill -0 "$agent_a"
stop "$agent_a" KILL
agent a
must "after a kill it starts again" until_true 30 status a
# What a crash would write.
must "no core files" grep -q '^Max core file size  *0 ' "/proc/$agent_a/limits"
must "no memory in core dumps" [ "$(cat "/proc/$agent_a/coredump_filter")" = 00000000 ]
must "a folder in /proc as before" [ "$(stat -c %U "/proc/$agent_a/status")" = "$(id -un)" ]
stop "$agent_a"
# A key that others can read.
chmod 644 "$LAB/a/identity.pem"
agent a
gone() { ! kill -0 "$agent_a" 2>/dev/null; }
must "an open key is refused" until_true 30 gone
must "with what to do" grep -q "identity.pem: others can read .*chmod 600" "$LAB/agent_a.err"
