# One member lets invented nodes knock at the collector over the mesh, and at an agent: they get a share of the
# places and no more, others are let in meanwhile, and when the member is gone so are they.
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
attack ghosts x ghosts "target=10.77.1.1:$PORT" count=400 each=40 seconds=14
attack visit x ghosts "target=10.77.1.2:$PORT" count=40 each=20 seconds=8
must "the member is in" until_true 5 member_up ghosts
sleep 9
agent a
must "an agent behind the relay is let in" until_true 10 connected a
must "readings" until_true 10 has_rows c a
channels=$(table c channels)
measured "channels of the collector: $channels; $(table r channels) of the relay"
must "the collector keeps places free ($channels channels)" [ "$channels" -le 200 ]
must "the relay took none over the mesh ($(table r channels) channels)" [ "$(table r channels)" -le 16 ]
attacked ghosts
attacked visit
measured "$(tail -n 2 "$LAB/ghosts.out" | head -1); at the relay $(tail -n 2 "$LAB/visit.out" | head -1)"
few() { [ "$(table c channels)" -le 20 ]; }
must "the ghosts go ($(table c channels) channels)" until_true 30 few
