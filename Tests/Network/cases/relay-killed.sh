# Of two relays in parallel the active one is killed; its operating system says so, and traffic goes on over the other.
. Tests/Network/diamond.sh
diamond_up
active=$(active_relay)
id=agent_$active
kill -KILL "${!id}"
# Reports come every 100 ms; nobody has to fall silent first.
must_flow_again_within 250
