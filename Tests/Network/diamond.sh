# Sourced by cases: collector and agent with two relays between them.

diamond_up() {
    host c r1 r2 a
    lan 1 c r1
    lan 2 c r2
    lan 3 r1 a
    lan 4 r2 a
    config c collector
    config r1 relay
    config r2 relay
    config a agent 'sensors:
  - {driver: command, run: ["/bin/echo", "21.5"], every: 100ms, name: bench, unit: Cel}
report: {wait: 0s}'
    collect c --trace
    agent r1
    agent r2
    agent a
    must "readings over a relay" until_true 30 has_rows c a
    must "the agent knows both relays" until_true 30 knows_both
    # On a busy machine a relay may have learnt of the collector from the agent, seconds before it met it itself.
    must "both relays know the collector" until_true 30 both_know_collector
    sleep 1
}

knows_both() { [ "$(status a | tr '{' '\n' | grep -cE '"name":"r[12]"')" -ge 2 ]; }

both_know_collector() { grep -q 'neighbour c at' "$LAB/agent_r1.err" && grep -q 'neighbour c at' "$LAB/agent_r2.err"; }

# The relay that the agent's traffic to the collector goes through.
active_relay() {
    status a | tr '{}' '\n\n' | grep '"isCollector":true' | grep -oE '"via":"r[12]"' | head -1 |
        grep -oE 'r[12]'
}

# must_flow_again_within MILLISECONDS: looks at the arrival times of single reports at the collector.
must_flow_again_within() {
    local before gap late
    before=$(date +%s%N)
    watch_machine
    sleep 4
    gap=$(awk -v from="$before" '
        $1 == "report" { if (last && $2 > from - 500000000 && $2 - last > gap) gap = $2 - last; last = $2 }
        END { if (last < from + 2000000000) print 999999; else printf "%d", gap / 1000000 }
    ' "$LAB/collect_c.err")
    late=$(machine_late)
    echo "longest gap: $gap ms, of the machine $late ms"
    [ "$gap" -le $(($1 + late)) ] || fail "traffic flows again within $1 ms (it took $gap)"
}
