# A taken port ends the start with one clear line.
host c a
config a agent 'links: {udp: {port: 4577}}'
config c agent 'links: {udp: {port: 4577}}'
start holder a "$BIN/rivulet-agent" --config "$LAB/c.yaml"
must "the first runs" until_true 30 status c
start second a "$BIN/rivulet-agent" --config "$LAB/a.yaml"
gone() { ! kill -0 "$second" 2>/dev/null; }
must "the second ends" until_true 30 gone
must "it names the port" grep -q 4577 "$LAB/second.err"
must "the first lives" kill -0 "$holder"
