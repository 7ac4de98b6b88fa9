# Sourced by the cases: an agent whose one channel has the value in a file.

# value NUMBER: what channel `t` of agent a has from now on.
value() { echo "$1" >"$LAB/value.new" && mv "$LAB/value.new" "$LAB/value"; }

VALUE_SENSOR() { echo "sensors:
  - {driver: command, run: [/bin/cat, $LAB/value], every: 200ms, name: t, unit: Cel}"; }

# alarms_config LINES: configures c with these entries of `alarms:`.
alarms_config() {
    collector_config "" "alarms:
$(sed 's/^/  /' <<<"$1")"
}

# shown PATTERN: whether `rivulet top` shows such a line.
shown() { "$BIN/rivulet" top --once --socket "$LAB/c.sock" 2>/dev/null | grep -qE -- "$1"; }
