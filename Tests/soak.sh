#!/usr/bin/env bash
# Nothing lost, nothing double: real processes in network namespaces, for minutes, with everything going
# wrong. Five agents measure 20 channels ten times a second each; a collector stores what comes to it through
# two relays. Packets are dropped at random; relays, the collector and agents are killed (-9) at any moment;
# the collector's disk loses what was not synced; the two sides are parted once. In the end the store is
# compared, reading by reading, with what the agents wrote down.
#
#     Tests/soak.sh [--minutes M] [--drop PERCENT] [--seed S]     as root
#
# Builds first, unless BIN names a folder with the release build.
# The last line: readings N lost 0 doubled 0, lost with the power P (bound B)
set -uo pipefail
. "$(dirname "$0")/../deploy/common.sh"
minutes=10 drop=40 seed=1
while [ $# -gt 0 ]; do
    case $1 in
    --minutes) minutes=${2:?$1 wants a number} ;;
    --drop) drop=${2:?$1 wants a number} ;;
    --seed) seed=${2:?$1 wants a number} ;;
    *) sed -n '2,10s/^# \{0,1\}//p' Tests/soak.sh; exit 64 ;;
    esac
    shift 2
done
need_root
[ -n "${BIN:-}" ] || need "${NETWORK_PACKAGES[@]}"
release_build
. Tests/Network/lab.sh
RANDOM=$seed
AGENTS=(a1 a2 a3 a4 a5)
RATE=200       # readings a second of one agent
SPOOL_AFTER=5  # seconds
trap soak_down EXIT

# below N: a random number from 0 to N − 1, the same for the same seed.
below() { echo $((RANDOM % $1)); }

soak_down() {
    local status=$?
    { kill -KILL "${id[@]}" && wait "${id[@]}"; } 2>/dev/null
    umount "$LAB/disk" 2>/dev/null
    (exit $status)
    lab_down
}

# A recording of one minute: 20 columns, ten rows a second, two decimals.
recording() {
    awk -v seed="$1" 'BEGIN {
        srand(seed); printf "time"; for (c = 1; c <= 20; c++) printf ",c%d [Cel]", c; print ""
        for (c = 1; c <= 20; c++) v[c] = 1500 + int(rand() * 1000)
        for (t = 0; t < 600; t++) {
            printf "%.1f", t / 10
            for (c = 1; c <= 20; c++) { v[c] += int(rand() * 21) - 10; printf ",%.2f", v[c] / 100 }
            print ""
        }
    }'
}

declare -A id kills
launch() {
    local name=$1
    case $name in
    c) start run_c c "$BIN/rivulet" collect --config "$LAB/c.yaml" --format csv ;;
    r*) start "run_$name" "$name" "$BIN/rivulet-agent" --config "$LAB/$name.yaml" ;;
    *) start "run_$name" "$name" "$BIN/soak-agent" --config "$LAB/$name.yaml" --record "$LAB/$name.record" ;;
    esac
    local variable=run_$name
    id[$name]=${!variable}
}

slay() {
    { kill -KILL "${id[$1]}" && wait "${id[$1]}"; } 2>/dev/null
    kills[$1]=$((${kills[$1]:-0} + 1))
}

# A disk of its own for the collector, so that it can lose what was not synced.
disk_up() {
    mkdir -p "$LAB/disk"
    truncate -s 256M "$LAB/image"
    mkfs.ext4 -q -F "$LAB/image" && mount -o loop,commit=300 "$LAB/image" "$LAB/disk"
}

# The power goes: the image as it is now, without what only the page cache has.
cut_power() {
    kill -STOP "${id[c]}"
    cp --sparse=always "$LAB/image" "$LAB/image.cut"
    slay c
    umount "$LAB/disk"
    mv "$LAB/image.cut" "$LAB/image"
    mount -o loop,commit=300 "$LAB/image" "$LAB/disk"
}

# drop_packets HOST PERCENT
drop_packets() {
    in_host "$1" nft -f - <<NFT
add table inet soak
delete table inet soak
table inet soak {
    chain in { type filter hook input priority 0; iifname != "lo" numgen random mod 100 < $2 drop; }
}
NFT
}

say() { printf '%4d s  %s\n' $((SECONDS - began)) "$*"; }

# First each kind once, in random order; then any.
kinds=(0 2 4 5 6 7)
for ((i = ${#kinds[@]} - 1; i > 0; i--)); do
    j=$(below $((i + 1)))
    held=${kinds[i]} kinds[i]=${kinds[j]} kinds[j]=$held
done

trouble() {
    local name kind
    kind=${kinds[0]:-$(below 10)}
    kinds=("${kinds[@]:1}")
    case $kind in
    0 | 1) name=r$((1 + $(below 2))) && say "relay $name killed" && slay $name && sleep "$(below 4)" && launch $name ;;
    2 | 3) say "collector killed" && slay c && sleep "$(below 6)" && launch c ;;
    4) if [ -n "$cuts" ]; then
        say "the collector's power goes" && cut_power && powercuts=$((powercuts + 1)) && launch c
    fi ;;
    5) name=${AGENTS[$(below 5)]} && say "agent $name killed" && slay "$name" && sleep "$(below 3)" && launch "$name" ;;
    *) name=$(below 8) && set -- c r1 r2 "${AGENTS[@]}" && shift "$name" && name=$1 &&
        percent=$(below $((drop + 1))) && say "$name loses $percent %" && drop_packets "$name" "$percent" ;;
    esac
}

# stands NAME: nothing of this agent waits any more.
stands() { status "$1" 2>/dev/null | grep '"readingsWaiting":0,' >/dev/null; }

began=$SECONDS powercuts=0 cuts=
disk_up 2>/dev/null && cuts=1 || echo "no loop devices here: the collector's power cuts are left out"
secret "$LAB/secret"
host c r1 r2 "${AGENTS[@]}"
lan 1 c r1 r2
lan 2 r1 r2 "${AGENTS[@]}"
STATE=$LAB/disk
[ -n "$cuts" ] || mkdir -p "$STATE"
config c collector "collector: {store: $STATE/readings.sqlite}"
for name in r1 r2; do config $name relay; done
for name in "${AGENTS[@]}"; do
    recording "$seed${name#a}" >"$LAB/$name.csv"
    journal="journal: {spool-after: ${SPOOL_AFTER}s}"
    config "$name" agent "$journal"
    cp "$LAB/$name.yaml" "$LAB/$name.quiet"
    config "$name" agent "$journal
sensors: [{driver: replay, file: $LAB/$name.csv, every: 100ms}]"
done
for name in c r1 r2 "${AGENTS[@]}"; do launch $name; done
echo "seed $seed, $minutes min, up to $drop % loss; 5 agents, 2 relays, 1 collector"
end=$((began + minutes * 60))
# One partition, 60 s long if there is time for it.
apart=$((minutes * 20 < 60 ? minutes * 20 : 60))
part_at=$((began + minutes * 20))
while [ $SECONDS -lt $end ]; do
    sleep $((1 + $(below 6)))
    if [ -n "$part_at" ] && [ $SECONDS -ge $part_at ]; then
        say "parted for $apart s"
        for name in r1 r2; do ip -n "$NS-$name" link set eth1 down; done
        sleep $apart
        for name in r1 r2; do ip -n "$NS-$name" link set eth1 up; done
        say "together again"
        part_at=
    fi
    trouble
done

say "calm"
for name in c r1 r2 "${AGENTS[@]}"; do drop_packets $name 0; done
sleep 2
for name in "${AGENTS[@]}"; do
    cp "$LAB/$name.quiet" "$LAB/$name.yaml"
    kill -HUP "${id[$name]}"
done
sleep 2
for name in "${AGENTS[@]}"; do
    until_true 180 stands "$name" || say "$name still has $(status "$name" | grep -o '"readingsWaiting":[0-9]*')"
done
kill -TERM "${id[c]}"
wait "${id[c]}" 2>/dev/null
say "killed: $(for name in "${!kills[@]}"; do echo -n "$name ${kills[$name]} "; done); power cuts of the collector: $powercuts"

agentkills=0
for name in "${AGENTS[@]}"; do agentkills=$((agentkills + ${kills[$name]:-0})); done
# In memory only: what is younger than spool-after, and what is being written.
bound=$((agentkills * RATE * (SPOOL_AFTER + 2)))
for name in "${AGENTS[@]}"; do sed "s/^/$name,/" "$LAB/$name.record"; done >"$LAB/records"
# As users read a store: rows and blocks alike. Times to the millisecond lie in rows only; in blocks they are within
# what the collector's clock may have been set by.
"$BIN/rivulet" query --store "$STATE/readings.sqlite" --raw --utc --format csv >"$LAB/stored.csv"
# Of a run that was killed: all but the last of its agent.
result=$(
    sqlite3 "$STATE/readings.sqlite" <<SQL
CREATE TEMP TABLE record (name TEXT, run TEXT, sequence INTEGER, channel TEXT, ms INTEGER, value TEXT);
CREATE TEMP TABLE stored (time TEXT, clock TEXT, peer TEXT, run TEXT, node TEXT, channel TEXT, unit TEXT,
    sequence INTEGER, value TEXT, reason TEXT, hops INTEGER, labels TEXT);
.mode csv
.import $LAB/records record
.import --skip 1 $LAB/stored.csv stored
CREATE INDEX temp.s ON stored (run, sequence);
CREATE TEMP TABLE rows AS SELECT lower(hex(runs.run)) AS run, sequence, milliseconds
    FROM readings JOIN runs ON runs.id = readings.run_id;
CREATE INDEX temp.r ON rows (run, sequence);
CREATE TEMP TABLE alive AS SELECT name, run FROM (SELECT name, run, max(rowid) FROM record GROUP BY name);
CREATE TEMP TABLE lost AS SELECT * FROM record AS r WHERE NOT EXISTS
    (SELECT 1 FROM stored AS s WHERE s.run = r.run AND s.sequence = r.sequence);
CREATE TEMP TABLE both AS SELECT s.channel <> r.channel OR (s.value = '') <> (r.value = '')
        OR abs(s.value - r.value) > 0.000001 AS differs,
    strftime('%s', s.time) * 1000 + substr(s.time, -4, 3) - r.ms AS offset
    FROM record AS r JOIN stored AS s ON s.run = r.run AND s.sequence = r.sequence;
.mode list
.separator ' '
SELECT (SELECT count(*) FROM record), (SELECT count(*) FROM stored),
    (SELECT count(*) FROM lost WHERE run IN (SELECT run FROM alive)),
    (SELECT count(*) FROM lost WHERE run NOT IN (SELECT run FROM alive)),
    (SELECT count(*) - count(DISTINCT run || ':' || sequence) FROM stored),
    (SELECT count(*) FROM both WHERE differs OR abs(offset - (SELECT avg(offset) FROM both)) > 1000)
    + (SELECT count(*) FROM record AS r JOIN rows AS s ON s.run = r.run AND s.sequence = r.sequence
        WHERE s.milliseconds <> r.ms);
SQL
)
read -r recorded stored lost power doubled wrong <<<"$result"
if [ -z "${wrong:-}" ]; then
    tail -n 5 "$LAB"/run_*.err
    echo "the store could not be compared"
    exit 1
fi
[ "$wrong" = 0 ] || echo "$wrong readings differ from what was measured"
[ "$lost" = 0 ] && [ "$wrong" = 0 ] || KEEP_LAB=1
[ -z "${KEEP_LAB:-}" ] || echo "kept: $LAB"
echo "readings $recorded lost $lost doubled $doubled, lost with the power $power (bound $bound)"
[ "$lost" = 0 ] && [ "$doubled" = 0 ] && [ "$wrong" = 0 ] && [ "$power" -le "$bound" ] && [ "$recorded" -gt 0 ]
