# The mesh is surveyed: who stands before a node that is no neighbour, and what the store keeps of it.
host c r a
lan 1 c r
lan 2 r a
collector_config
config r relay
start agent_r r "$BIN/rivulet-agent" --config "$LAB/r.yaml"
collector_again
agent_up
must "readings over the relay" more_readings 5 60

link() { "$BIN/rivulet" top --socket "$LAB/c.sock" 2>/dev/null | grep -E "^$1 +$2 +$3" >/dev/null; }
must "the relay is a neighbour" until_true 60 link c r ethernet
must "the agent hangs on the relay" until_true 90 link r a ethernet
kept() { [ "$(sql c "SELECT count(*) FROM mesh WHERE link = 'ethernet' AND is_direct = 1")" -ge 2 ] 2>/dev/null; }
must "both are kept" until_true 60 kept
before=$(sql c "SELECT count(*) FROM mesh")
agent_down
gone() { [ "$(sql c "SELECT count(*) FROM mesh WHERE is_gone = 1")" -ge 1 ] 2>/dev/null; }
must "a link that is gone is kept as such" until_true 90 gone
must "nothing else is written meanwhile" [ "$(sql c "SELECT count(*) FROM mesh")" -le $((before + 2)) ]
