# No IPv6 anywhere.
host c a
lan 1 c a
for name in c a; do in_host $name sysctl -qw net.ipv6.conf.all.disable_ipv6=1; done
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings over IPv4" until_true 30 has_rows c a
