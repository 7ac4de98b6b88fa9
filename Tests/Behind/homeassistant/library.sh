# Home Assistant in the collector's namespace, with a mosquitto. HOMEASSISTANT names the virtual environment that
# prepare.sh makes.
. Tests/Behind/mqtt/library.sh

HOMEASSISTANT=${HOMEASSISTANT:-/var/tmp/rivulet-homeassistant}

ha() { in_host c env HA_TOKEN="$(cat "$LAB/token")" "$HOMEASSISTANT/bin/python" Tests/Behind/homeassistant/ha.py "$@"; }

# home_assistant_up: starts it, and waits until it answers.
home_assistant_up() {
    [ -e "$HOMEASSISTANT/complete" ] || {
        echo "${LANE_REASON:-Home Assistant is not there: Tests/Behind/run.sh homeassistant installs it}"
        exit 77
    }
    [ -e "$LAB/token" ] ||
        "$HOMEASSISTANT/bin/python" Tests/Behind/homeassistant/ha.py setup "$LAB/ha" 1883 >"$LAB/token"
    start hass c "$HOMEASSISTANT/bin/hass" --skip-pip -c "$LAB/ha"
    until_true 240 eval 'ha state >/dev/null 2>&1' || fail "Home Assistant does not start"
}

# entity_is ENTITY FILTER: whether jq's filter is true of its state.
entity_is() { ha state "$1" 2>/dev/null | jq -e "$2" >/dev/null 2>&1; }

# registry_has devices|entities FILTER
registry_has() { ha "$1" 2>/dev/null | jq -e "$2" >/dev/null 2>&1; }

# no_complaint: Home Assistant's log has no warning or error about what we publish.
no_complaint() { ! grep -E '(WARNING|ERROR).*(mqtt|sensor)' "$LAB/ha/home-assistant.log" "$LAB/hass.err"; }
