# Interfaces of containers and VPNs are left alone, even where they lead to others; an address of ours that
# somebody else has too keeps nobody from meeting.
host c a
lan 1 c a
lan 2 c a
ip -n "$NS-a" link set eth2 down
ip -n "$NS-a" link set eth2 name docker0
ip -n "$NS-a" link set docker0 up
ip -n "$NS-a" tuntap add tun9 mode tun
ip -n "$NS-a" addr add 10.99.0.1/24 dev tun9
ip -n "$NS-a" link set tun9 up
# The same link-local address on both sides of LAN 1; the agent's was there second.
ip netns exec "$NS-a" sysctl -qw net.ipv6.conf.eth1.accept_dad=1
ip -n "$NS-c" addr add fe80::77/64 dev eth1
sleep 0.5
ip -n "$NS-a" addr add fe80::77/64 dev eth1
failed() { ip -n "$NS-a" addr show dev eth1 | grep -q dadfailed; }
must "the kernel found the conflict" until_true 30 failed
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings" until_true 30 has_rows c a
must "only eth1" [ "$(grep -c ': in use' "$LAB/agent_a.err")" = 1 ]
