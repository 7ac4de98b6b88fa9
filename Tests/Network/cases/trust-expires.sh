# A certificate that runs out ends the channel of its node, once a clock that is known to be right shows it; until
# a time service keeps the clock, dates are only counted as not looked at.
. Tests/Network/authority.sh
host c a
lan 1 c a
must "an authority" authority
trust="{authority: $LAB/authority.pem}"
keyed c collector "$trust"
keyed a agent "$trust" "$SENSOR"
must "certificates" certify c collector
must "for a day" certify a agent 1
gcc -shared -fPIC -o "$LAB/synchronised.so" Tests/Hostile/synchronised_clock.c
pretend_clock
wall=$LD_PRELOAD
export LD_PRELOAD=$LD_PRELOAD:$LAB/synchronised.so
collect c
export LD_PRELOAD=$wall
agent a
unset LD_PRELOAD
must "they are connected" until_true 30 has_rows c a
must "the agent could not look at dates" [ "$(drops a certificate-undated)" -gt 0 ]
must "the collector did" [ "$(drops c certificate-undated)" = 0 ]
jump $((2 * 86400))
# The clock is read once a minute.
expired() { [ "$(drops c certificate-expired)" -gt 0 ]; }
must "the channel is closed" until_true 90 expired
must "with the reason" grep -q "certificate-expired: its certificate is not valid today" "$LAB/collect_c.err"
must "which the agent hears" until_true 40 grep -q "the other side refused: this node's certificate is not valid" "$LAB/agent_a.err"
gone() { ! connected a; }
must "it is not let in again" until_true 40 gone
stop "$agent_a"
identity request a >"$LAB/a.csr"
must "signed anew" sign a agent 30
must "and imported" identity import a "$LAB/a.pem" >/dev/null
agent a
must "it is let in" until_true 40 connected a
