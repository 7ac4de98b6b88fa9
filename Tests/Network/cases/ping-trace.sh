# `rivulet ping`, `trace`, `topology` and `browse`, from an agent to a collector over two relays: by name and by
# PeerID, with a relay that dies, and what is said where there is nobody.
host c r1 r2 a x
lan 1 c r1
lan 2 r1 r2 x
lan 3 r2 a
config c collector
for name in r1 r2; do config $name relay; done
config a agent "$SENSOR"
config x agent
at="--socket $LAB/a.sock"
rivulet() { "$BIN/rivulet" "$@"; }
# says PATTERN COMMAND…: what it prints, on standard output or error, has the pattern.
says() {
    local pattern=$1
    shift
    rivulet "$@" >"$LAB/said" 2>&1
    grep -qE -- "$pattern" "$LAB/said" || { cat "$LAB/said"; return 1; }
}
# ends STATUS COMMAND…
ends() {
    local wanted=$1 status
    shift
    timeout 30 "$BIN/rivulet" "$@" >"$LAB/said" 2>&1
    status=$?
    [ $status = "$wanted" ] || { echo "status $status"; cat "$LAB/said"; return 1; }
}
at_failure() {
    local name
    for name in a r2; do rivulet status -v --socket "$LAB/$name.sock"; done
}
must "nobody at the socket" ends 69 ping c $at
collect c
for name in r1 r2 a; do agent $name; done
must "readings over two relays" until_true 40 has_rows c a
# Where no node runs, it listens itself; they have settled, so that takes its time.
start listen x "$BIN/rivulet" browse --config "$LAB/x.yaml"

must "ping over the channel" says '^answer from c: number 3, 3 hops, [0-9.]+ ms$' ping c -c 3 -i 100ms $at
must "its sums" grep -q '^3 asked, 3 answered, 0 % lost, in ' "$LAB/said"
must "its times" grep -qE '^round trip min/mean/max/deviation [0-9.]+/[0-9.]+/[0-9.]+/[0-9.]+ ms$' "$LAB/said"
must "a neighbour" says '^answer from r2: number 1, 1 hop, ' ping r2 -c 1 $at
must "as JSON" says '^\{"peer":".*"name":"c","asked":2,"answered":2,' ping c -c 2 -i 50ms --json $at
r1=$(member r1 peer)
must "without a channel, by PeerID" says 'number 1, 2 hops, [0-9.]+ ms' ping "$r1" -c 1 $at
must "it goes through the mesh" grep -q 'through the mesh$' "$LAB/said"
must "the collector reaches the agent" says '^answer from a: number 1, 3 hops' ping a -c 1 --socket "$LAB/c.sock"

must "trace" says '^trace to c ' trace c $at
id='\([a-z2-7]{5}-[a-z2-7]{5}\)'
time='( +[0-9.]+ ms){3}$'
must "the first relay" grep -qE "^ 1  r2 $id +ethernet$time" "$LAB/said"
must "the second" grep -qE "^ 2  r1 $id +ethernet$time" "$LAB/said"
must "the collector" grep -qE "^ 3  c $id +ethernet$time" "$LAB/said"
must "no further hop" [ "$(wc -l <"$LAB/said")" = 4 ]
must "trace as JSON" says '"reached":true,"hops":\[\{"hop":1,"answers":\[\{"peer":"[a-z2-7-]*","name":"r2","link":"ethernet"' \
    trace c --json -q 1 $at

must "topology" ends 0 topology $at
tree='^network lab, as a knows it
a +agent +this node
└─ r2 +relay +ethernet eth3 +[0-9]+ +[0-9]+ % +[0-9.]+ ms
   └─ .* (node|relay) +ethernet +[0-9]+ +[0-9.]+ ms
      └─ c +collector +ethernet +[0-9]+ +[0-9.]+ ms'
while read -r line; do
    must "topology: $line" grep -qE -- "$(echo "$line" | sed 's/^└/ *└/')" "$LAB/said"
done <<<"$tree"
must "80 columns" [ "$(LC_ALL=C.UTF-8 wc -L <"$LAB/said")" -le 80 ]
must "no folder for the picture" ends 73 topology --svg "$LAB/none/x.svg" $at
must "which is said" grep -q "x.svg cannot be created: there is no folder $LAB/none\$" "$LAB/said"
must "the picture" ends 0 topology --svg "$LAB/picture.svg" $at
must "it is whole" [ "$(head -c 5 "$LAB/picture.svg")$(tail -n 1 "$LAB/picture.svg")" = '<?xml</svg>' ]
must "with all nodes" [ "$(grep -c '<g><title>' "$LAB/picture.svg")" = 4 ]
must "topology as JSON" says '"name":"c","role":"collector","online":true,"parent":"'"$r1"'","parentIsCertain":true' \
    topology --json $at
must "without asking" says 'behind, 3 hops +[0-9]+$' topology --local $at

must "browse" ends 0 browse --once $at
must "only neighbours are near" [ "$(grep -cE ' (connected|near)( |$)' "$LAB/said")" = 1 ]
must "the relay is" grep -qE '^r2 +[a-z2-7]{5}-[a-z2-7]{5} relay +eth3 +[0-9]+ (s|min) +connected' "$LAB/said"
start browse a "$BIN/rivulet" browse $at
must "lines where there is no terminal" until_true 30 grep -qE '^found  r2  .*  relay  eth3  connected' "$LAB/browse.out"
stop "$browse" INT
start screen a script -qfec "$BIN/rivulet browse $at" /dev/null
must "a table on a terminal" until_true 30 grep -qa '1 node is near; Ctrl-C ends this' "$LAB/screen.out"

must "an unknown name" ends 66 ping colector $at
must "which it says" grep -q 'no node colector is known here' "$LAB/said"
must "itself" ends 64 trace a $at
must "nobody of that PeerID" ends 69 trace aaaaa-aaaaa-aaaaa-aaaaa-aaaaaa $at
must "and why" grep -q 'there is no route to aaaaa-aaaaa' "$LAB/said"

# Who only listens hears both relays, and nobody hears it.
heard() { grep -qE "^found  -  $1  relay  eth2  near" "$LAB/listen.out"; }
must "it says that it listens" grep -q '^no node runs here' "$LAB/listen.err"
for name in r1 r2; do
    must "the listener hears $name" until_true 45 heard "$(member $name peer)"
done
must "nobody hears it" [ "$(rivulet browse --once --json --socket "$LAB/r2.sock" | wc -l)" = 2 ]
stop "$listen" INT

# A name that two nodes have.
stop "$agent_r1"
sed -i 's/^name: r1/name: c/' "$LAB/r1.yaml"
agent r1
twins() { rivulet trace "$(member c peer)" $at | grep -qE "^ 2  c $id"; }
must "the relay under the collector's name" until_true 40 twins
c=$(member c peer)
on_relay="--socket $LAB/r2.sock"
ambiguous() { says '^2 nodes are called c; give the PeerID' ping c -c 1 $on_relay; }
must "both are listed" until_true 40 ambiguous
must "with PeerIDs" says "^  $c  " ping c -c 1 $on_relay

# A relay that is stopped: no way, or no answer.
kill -STOP "$agent_r1"
must "a silent relay" until_true 40 ends 69 ping "$c" -c 1 --timeout 500ms $at
kill -CONT "$agent_r1"
must "and back" until_true 40 ends 0 ping "$c" -c 1 --timeout 500ms $at

# The node here goes away: what was measured until then is told all the same.
pings() { "$BIN/rivulet" ping a -i 100ms $on_relay >"$LAB/pings.out" 2>"$LAB/pings.err"; echo $? >"$LAB/pings.status"; }
pings &
PIDS+=($!)
must "answers" until_true 20 grep -q 'number 3,' "$LAB/pings.out"
stop "$agent_r2"
must "it ends" until_true 20 [ -s "$LAB/pings.status" ]
must "as something to try again" [ "$(cat "$LAB/pings.status")" = 75 ]
must "with the sums" grep -qE '^[0-9]+ asked, [0-9]+ answered, ' "$LAB/pings.out"
must "and the reason" [ -s "$LAB/pings.err" ]
