# Handshakes that fail, a thousand a second, and members with another secret: the log sums them up.
. Tests/Hostile/hostile.sh
host a x
lan 1 a x
config a agent "$FIXED"
agent a
must "the agent runs" until_true 30 up a
lines() { wc -l <"$LAB/agent_a.err"; }
before=$(lines)
attack flood x refusals "target=10.77.1.1:$PORT" from=10.77.1.2 rate=200000 seconds=10
secret "$LAB/other"
for turn in 1 2 3; do
    start "stranger$turn" x "$BIN/rogue" join network=lab "secret=$LAB/other" "target=10.77.1.1:$PORT" seconds=3
    wait "$(eval echo "\$stranger$turn")"
done
must "it ends" attacked flood
sleep 1
count=$(($(lines) - before))
measured "$count lines; $(tail -n 1 "$LAB/flood.out")"
must "$count lines, at most 60" [ "$count" -le 60 ]
must "some word of it" [ "$count" -ge 1 ]
