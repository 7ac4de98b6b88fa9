# The machine sleeps (ACPI S3: devices and processors off) and is woken by its clock five seconds later.
# at most 180 s
# in memory
. Tests/Lab/bluetooth.sh
bluetooth_pair
must "readings" until_true 40 has_rows c a
grep -qw mem /sys/power/state || not_run "this kernel cannot suspend"
resumed_before=$(dmesg | grep -c 'PM: suspend exit')
asleep=$(date +%s)
rtcwake -m mem -s 6 >>"$LAB/rtcwake.out" 2>&1 || fail "the machine goes to sleep"
again=$(milliseconds_until 60 more_rows c a 60) || fail "readings again"
must "it was asleep" [ $(($(date +%s) - asleep)) -ge 5 ]
must "the kernel says so" [ "$(dmesg | grep -c 'PM: suspend exit')" -gt "$resumed_before" ]
must "devices were off" grep -q 'Preparing to enter system sleep state S3' <(dmesg)
measured "from waking up to the next row: $again ms"
must "the agent shows its link" links a 1
must "the link had gone meanwhile" [ "$(grep -c ' collector: c' "$LAB/agent_a.err")" -ge 2 ]
must "no reading is lost" [ "$(member a readingsLost)" = 0 ]
