# The link to the active one of two relays loses its carrier; traffic goes on over the other at once.
. Tests/Network/diamond.sh
diamond_up
case $(active_relay) in
r1) lan=3 ;;
r2) lan=4 ;;
esac
ip -n "$NS-a" link set "eth$lan" down
must_flow_again_within 500
