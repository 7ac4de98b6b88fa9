# A controller that was switched off is switched on again by its agent, which advertises anew; at the end the
# controller is as it was found.
# at most 600 s
. Tests/Lab/bluetooth.sh
bluetooth_pair
must "readings" until_true 90 has_rows c a
power 1 off
must "the agent says so" until_true 60 says agent_a "the controller was switched off"
must "it is on again" until_true 60 powered 1
must "it advertises" until_true 60 bluetooth_state a advertising
must "readings again" more_rows c a 90
stop "$agent_a"
stop "$collect_c"
if powered 1; then fail "the agent left its controller on"; fi
if powered 0; then fail "the collector left its controller on"; fi
