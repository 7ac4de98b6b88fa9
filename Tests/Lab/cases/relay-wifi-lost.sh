# A pair that shares Wi-Fi and Bluetooth loses Wi-Fi and goes on over Bluetooth, on the same channel; when
# Wi-Fi is back it is used again.
# at most 600 s
. Tests/Lab/bluetooth.sh
emulated 2
# Both nodes are in one namespace, as Bluetooth wants it: IPv6 between the two radios never takes the loopback.
modprobe -r mac80211_hwsim 2>/dev/null
modprobe mac80211_hwsim radios=2 || not_run "this kernel has no module mac80211_hwsim"
export RUNTIME_DIRECTORY=$LAB/wifi
for radio in wlan0 wlan1; do
    must "$radio joins the mesh" deploy/wifi-mesh.sh up $radio garden >>"$LAB/wifi.out" 2>&1
done
established() { iw dev wlan0 station dump | grep -q 'plink:.*ESTAB'; }
must "the radios are peers" until_true 90 established
config c collector "links: {udp: {interfaces: [wlan0]}, bluetooth: {adapter: \"${ADDRESSES[0]}\"}}"
config a agent "links: {udp: {interfaces: [wlan1]}, bluetooth: {adapter: \"${ADDRESSES[1]}\"}}
$SENSOR"
collect_here c
agent_here a
must "readings" until_true 90 has_rows c a
over() { status a | tr ',' '\n' | grep "\"interface\":\"$1\"" >/dev/null; }
must "over Wi-Fi" until_true 90 over wlan1
proved() { status a | grep '"links":2,' >/dev/null; }
must "the Bluetooth link is proved as well" until_true 90 proved
opened() { status a | grep -o '"openedAtMilliseconds":[0-9]*'; }
before=$(opened)
deploy/wifi-mesh.sh down wlan1 >>"$LAB/wifi.out" 2>&1
taken=$(milliseconds_until 90 over 'hci[01]') || fail "over Bluetooth"
measured "from Wi-Fi's end to Bluetooth: $taken ms"
must "readings go on" more_rows c a 90
must "on the same channel" [ "$(opened)" = "${before:-none}" ]
must "never lost" [ "$(grep -c 'no longer answers' "$LAB/agent_a.err")" = 0 ]
deploy/wifi-mesh.sh up wlan1 garden >>"$LAB/wifi.out" 2>&1
must "Wi-Fi again" until_true 90 over wlan1
must "still on the same channel" [ "$(opened)" = "${before:-none}" ]
