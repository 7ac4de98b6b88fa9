# A program that a sensor runs ends with the agent, with its children, whatever its time limit is.
host a
config a agent "sensors:
  - {driver: command, run: [$LAB/hang], every: 1s, time-limit: 60s}"
cat >"$LAB/hang" <<SH
#!/bin/sh
sleep 777 &
echo \$\$ \$! >"$LAB/pids"
wait
SH
chmod +x "$LAB/hang"
agent a
must "it runs" until_true 30 test -s "$LAB/pids"
read -r program child <"$LAB/pids"
# A zombie is dead.
lives() { grep -q "^State:.[RSD]" "/proc/$1/status" 2>/dev/null; }
must "and its child" lives "$child"
stop "$agent_a"
must "both end with the agent" until_true 10 eval '! lives "$program" && ! lives "$child"'
