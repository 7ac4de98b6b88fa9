# The status LED blinks while there is no collector, is steady with one, and dark when the agent has ended.
. Tests/Lab/guest.sh
gpio_chip 8 5=LED

host a c
lan 1 a c
config c collector
config a agent 'status-led: {pin: LED}
sensors: []'

light() { cat "$GPIO_DEVICE/sim_gpio5/value"; }

lit() { [ "$(light)" = 1 ]; }

dark() { [ "$(light)" = 0 ]; }

# steady: lit, however often one looks in three seconds.
steady() {
    local end=$((SECONDS + 3))
    while ((SECONDS < end)); do lit || return; done
}

agent a
must "it blinks: lit" until_true 60 lit
must "it blinks: dark" until_true 60 dark
must "it blinks: lit again" until_true 60 lit
if steady; then fail "it is steady without a collector"; fi
collect c
must "the agent has a collector" until_true 90 connected a
must "it is steady" until_true 60 steady
stop "$agent_a"
must "it is dark in the end" until_true 60 dark
