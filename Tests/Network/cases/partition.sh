# The wire is cut for five seconds and mended: readings come again by themselves.
host c a
lan 1 c a
config c collector
config a agent "$SENSOR"
collect c
agent a
must "readings before" until_true 30 has_rows c a
in_host a nft add table inet cut
in_host a nft 'add chain inet cut in { type filter hook input priority 0; policy drop; }'
in_host a nft 'add chain inet cut out { type filter hook output priority 0; policy drop; }'
sleep 5
in_host a nft delete table inet cut
must "readings after" more_rows c a 30
