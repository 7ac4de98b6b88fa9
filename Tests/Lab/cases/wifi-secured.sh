# The mesh encrypted by SAE: who has the passphrase is let in, and nobody else.
. Tests/Lab/guest.sh
radios c a x
echo "a passphrase of ours" >"$LAB/passphrase"
echo "a wrong passphrase" >"$LAB/wrong"
for name in c a; do
    must "$name joins" wifi $name up garden --passphrase "$LAB/passphrase"
done
must "c and a have a link" until_true 90 peers c 1
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings over the encrypted mesh" until_true 90 has_rows c a
# Its attempts take a slow processor's time, so it comes last.
must "x starts" wifi x up garden --passphrase "$LAB/wrong"
sleep 10
must "x stays outside" peers x 0
if in_host x ping -6 -q -c 2 -W 2 "$(link_local c)%wlan0"; then fail "x reaches c"; fi
for name in c a x; do must "$name leaves" wifi $name down; done
