# Of two relays in parallel the active one is killed; traffic goes on over the other within a second.
. Tests/Network/diamond.sh
diamond_up
active=$(active_relay)
id=agent_$active
kill -KILL "${!id}"
must_flow_again_within 1000
