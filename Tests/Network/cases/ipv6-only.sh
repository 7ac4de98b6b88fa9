# No IPv4 anywhere: link-local addresses only.
host c a
lan 1 c a
for name in c a; do in_host $name ip addr flush dev eth1 scope global; done
must "no IPv4" [ -z "$(in_host a ip -4 addr show dev eth1)" ]
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings over IPv6" until_true 30 has_rows c a
