# A member whose certificate names no such role calls itself a collector: it is not even admitted.
. Tests/Hostile/hostile.sh
. Tests/Network/authority.sh
host c a x
lan 1 a x c
must "an authority" authority
trust="{authority: $LAB/authority.pem}"
also="secret-file: $LAB/secret
$FIXED"
keyed c collector "$trust" "$also"
keyed a agent "$trust" "$SENSOR
$also"
keyed x agent "$trust" "$SENSOR
$also"
must "a collector's certificate" certify c collector
must "an agent's certificate" certify a agent
must "and another's" certify x agent
agent a
must "the agent runs" until_true 30 up a
certified="anchors=$LAB/authority.pem certificate=$LAB/x/certificate.pem state=$LAB/x"
attack liar x collector "target=10.77.1.1:$PORT" role=collector seconds=5 $certified
refused() { [ "$(drops a admission-role)" -gt 0 ]; }
must "the liar is refused for its role" until_true 20 refused
must "it was not in" eval '! member_up liar'
must "which the log says" until_true 20 grep -q "its certificate does not name that role" "$LAB/agent_a.err"
attack honest x join "target=10.77.1.1:$PORT" role=agent seconds=3 $certified
must "as what it is it gets in" until_true 20 member_up honest
collect c
must "the true collector has all, from the first on" until_true 30 has_all c
