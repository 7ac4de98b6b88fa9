# Values as people read them: bytes with the prefix that suits them, no number broken, units on their axes, and lines that
# can be told apart; of many alarms the first.
site
web_up "" "alarms:
  - {name: many, channel: '*', above: 0}"
agent_up a "sensors:
  - {driver: command, run: [/bin/echo, \"72.5\"], every: 200ms, name: warm, unit: '[degF]'}
  - {driver: command, run: [/bin/echo, \"72355540992\"], every: 200ms, name: disk, unit: B}
  - {driver: command, run: [/bin/echo, \"101325\"], every: 200ms, name: air, unit: Pa}
  - {driver: command, run: [/bin/echo, \"44\"], every: 200ms, name: damp, unit: '%RH'}
  - {driver: command, run: [/bin/echo, \"1234567890.123456\"], every: 200ms, name: long, unit: '1'}
  - {driver: command, run: [/bin/echo, \"5\"], every: 200ms, name: f, unit: V}
  - {driver: command, run: [/bin/echo, \"6\"], every: 200ms, name: g, unit: A}"
must "readings" more_readings 50
must "seven alarms" until_true 60 eval '[ "$(get /api/fleet | jq "[.alarms[] | select(.active)] | length")" = 7 ]'
must "they are shown as people read them" browse values.py "$(peer a)"
