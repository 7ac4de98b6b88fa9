# The machine sleeps (ACPI S3: devices and processors off) and is woken by its clock some seconds later.
# at most 600 s
# in memory
. Tests/Lab/bluetooth.sh
bluetooth_pair
must "readings" until_true 90 has_rows c a
grep -qw mem /sys/power/state || not_run "this kernel cannot suspend"
resumed_before=$(dmesg | grep -c 'PM: suspend exit')
asleep=$(date +%s)
# So long that it is asleep before, however slowly it falls asleep.
rtcwake -m mem -s 20 >>"$LAB/rtcwake.out" 2>&1 || fail "the machine goes to sleep"
again=$(milliseconds_until 90 more_rows c a 90) || fail "readings again"
must "it was asleep" [ $(($(date +%s) - asleep)) -ge 5 ]
must "the kernel says so" [ "$(dmesg | grep -c 'PM: suspend exit')" -gt "$resumed_before" ]
must "devices were off" grep -q 'Preparing to enter system sleep state S3' <(dmesg)
measured "from waking up to the next row: $again ms"
must "the agent shows its link" until_true 60 links a 1
must "the link had gone meanwhile" [ "$(grep -c ' collector: c' "$LAB/agent_a.err")" -ge 2 ]
must "no reading is lost" [ "$(member a readingsLost)" = 0 ]
