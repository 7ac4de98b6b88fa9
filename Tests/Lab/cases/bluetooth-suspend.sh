# The kernel suspends and resumes, as far as the lab's machine can: its drivers are told, Bluetooth's
# among them, which ends links and advertising, and all processes are frozen for five seconds. The last
# step, switching devices off, would take the machine's root directory (9p) away for good.
# at most 180 s
. Tests/Lab/bluetooth.sh
emulated 2
only_bluetooth c collector 0
only_bluetooth a agent 1 "$SENSOR"
collect_here c
agent_here a
must "readings" until_true 40 has_rows c a
[ -w /sys/power/pm_test ] || not_run "this kernel has no /sys/power/pm_test"
echo freezer >/sys/power/pm_test
started=$(date +%s%N)
echo mem >/sys/power/state || fail "the kernel suspends"
must "it slept for five seconds" [ $((($(date +%s%N) - started) / 1000000)) -ge 4900 ]
again=$(milliseconds_until 60 more_rows c a 60) || fail "readings again"
measured "from waking up to the next row: $again ms"
must "the agent shows its link" links a 1
must "the link had gone meanwhile" [ "$(grep -c '^collector: c' "$LAB/agent_a.err")" -ge 2 ]
dmesg | grep -q 'PM: suspend exit' || fail "the kernel says so"
