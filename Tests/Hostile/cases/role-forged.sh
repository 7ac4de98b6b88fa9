# A node that was admitted as an agent or as a viewer calls itself a collector in routing, and gives receipts:
# it settles nothing; and what a viewer is shown is settled no more by its receipts.
. Tests/Hostile/hostile.sh
host c a x
lan 1 a x c
config c collector
config a agent "$SENSOR
$FIXED"
agent a
must "the agent runs" until_true 30 up a
for lie in "agent collector" "viewer collector" "viewer viewer"; do
    read -r role kind <<<"$lie"
    attack "liar_$role$kind" x collector "target=10.77.1.1:$PORT" role=$role kind=$kind seconds=5
    must "the liar is in ($lie)" until_true 20 member_up "liar_$role$kind"
    must "it ends ($lie)" attacked "liar_$role$kind"
    measured "admitted as $role, routed as $kind: $(tail -n 1 "$LAB/liar_$role$kind.out")"
    must "the agent keeps its readings ($lie)" at_least a readingsWaiting 15
done
must "of all three ($(member a readingsWaiting))" at_least a readingsWaiting 60
collect c
must "the true collector has all, from the first on" until_true 30 has_all c
