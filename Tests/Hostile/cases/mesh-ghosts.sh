# One member lets invented nodes knock at the collector over the mesh, and at a relay: they get half of the
# places and no more, others are let in meanwhile, and only collectors and viewers are called over the mesh.
. Tests/Hostile/hostile.sh
host c r a x
lan 1 c r x
lan 2 r a
config c collector "$FIXED"
config r relay "$FIXED"
config a agent "$SENSOR"
collect c
agent r
must "the relay reaches the collector" until_true 10 connected r
attack visit x ghosts "target=10.77.1.2:$PORT" count=40 each=20 seconds=5
must "the member is in" until_true 20 member_up visit
attacked visit
relay=$(table r channels)
measured "at the relay: $(tail -n 2 "$LAB/visit.out" | head -1), $relay channels"
must "the relay took none over the mesh ($relay channels)" [ "$relay" -le 12 ]
attack ghosts x ghosts "target=10.77.1.1:$PORT" count=1000 each=70 seconds=28
must "the member is in again" until_true 20 member_up ghosts
full() { [ "$(table c channels)" -ge 590 ]; }
until_true 16 full
agent a
must "an agent behind the relay is let in" until_true 10 connected a
must "readings" until_true 10 has_rows c a
attacked ghosts
channels=$(table c channels)
measured "at the collector: $(tail -n 2 "$LAB/ghosts.out" | head -1), $channels channels"
must "the collector keeps half of its places ($channels channels)" [ "$channels" -le 620 ]
must "readings still come" more_rows c a 5
