# Somebody with the secret invents nudges, 60 kB of them a second: what is remembered stays bounded, and the
# processor has time left.
. Tests/Hostile/hostile.sh
host c a x
lan 1 a x c
config c collector
config a agent "$SENSOR
$FIXED"
collect c
agent a
must "connected" until_true 30 connected a
before=$(processor "$agent_a")
attack flood x nudges "target=10.77.1.1:$PORT" rate=60000 seconds=10
must "it ends" attacked flood
share=$((($(processor "$agent_a") - before) / 100))
sightings=$(table a sightings)
measured "$share % of a processor, $sightings sightings, $(memory_peak "$agent_a") kB"
must "$sightings sightings, at most 1280" [ "$sightings" -le 1280 ]
must "$share % of a processor, at most 15" [ "$share" -le 15 ]
must "still connected" connected a
must "readings" more_rows c a 15
