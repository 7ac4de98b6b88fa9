# Two networks on one LAN do not see each other.
host c a b d
lan 1 c a b d
config c collector
config a agent "$SENSOR"
NETWORK=other config b agent "$SENSOR"
NETWORK=other config d collector
collect c
collect d
agent a
agent b
must "ours" until_true 30 has_rows c a
must "theirs" until_true 30 has_rows d b
must "not theirs at ours" [ "$(rows c b)" = 0 ]
must "not ours at theirs" [ "$(rows d a)" = 0 ]
must "strangers are counted" until_true 30 eval '[ "$(drops a beacon-foreign-network)" -gt 0 ]'
