# Every controller can hold two links: the third neighbour is refused, and its readings go another way.
# at most 600 s
# comes last: Linux 6.1 may crash in it (Tests/Lab/README.md)
. Tests/Lab/bluetooth.sh
export BTVIRT_LINKS=2
emulated 4
only_bluetooth c collector 0
collect_here c
for number in 1 2 3; do
    only_bluetooth "r$number" relay "$number" "$SENSOR"
    agent_here "r$number"
done
for number in 1 2 3; do
    must "readings of r$number" until_true 90 has_rows c "r$number"
done
for name in c r1 r2 r3; do
    "$BIN/rivulet" status --socket "$LAB/$name.sock" | tee "$LAB/$name.status" | grep '^bluetooth'
    ! grep -Eq '^bluetooth .* ([3-9]|[1-9][0-9]+) link' "$LAB/$name.status" || fail "$name has more than two links"
done
for number in 1 2 3; do must "more readings of r$number" more_rows c "r$number" 90; done
refused=0
for name in c r1 r2 r3; do
    refused=$((refused + $(member "$name" bluetooth-connect-failed || echo 0)))
done
must "somebody was refused" [ "$refused" -gt 0 ]
measured "connects refused: $refused"
