# A program sends readings over a relay to a collector, which stores them all; a person sees them in the collector's
# table. Somebody who only looks in is sent copies. A second start is the same node.
host c r v attic
lan 1 c r v
lan 2 r attic
config c collector
config r relay
config v viewer
agent r
sensor() { terminal "$1" attic "$BIN/example-sensor-readings" Attic lab "$LAB/secret" "${@:2}"; }
stored() { [ "$(sql c "SELECT count(*) FROM readings")" = "$1" ]; }
runs() { [ "$(sql c "SELECT count(DISTINCT peer_id), count(*) FROM runs
    JOIN peers ON peers.id = peer_id WHERE name = 'Attic'")" = "$1" ]; }

# Nobody is there yet.
sensor first 4
sees first '^I am Attic of lab\.$'
terminal table c "$BIN/rivulet" collect --config "$LAB/c.yaml" --every 1s
sees first '^readings go to c$'
looks_at table '^Attic +load +[0-9.]+ '
looks_at table '^ +memory\.free +[0-9]+ MB'
sees first '^sent; 0 readings were not stored$'
must "the program ends" until_true 30 has_ended first
must "all are stored, from the first on" until_true 30 stored 8

terminal view v "$BIN/rivulet" collect --config "$LAB/v.yaml" --every 1s
sensor second 300
sees second '^looking in: \["v"\]$'
looks_at view '^Attic +load +[0-9.]+ '
must "one node has sent all that, in two runs" until_true 30 runs '1|2'
terminal stranger attic "$BIN/example-sensor-readings" Stranger lab /dev/null
sees stranger '^no: /dev/null: '
must "no secret, no program" until_true 30 has_ended stranger 1
