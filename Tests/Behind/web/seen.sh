# What a person sees of two agents, one of them with hostile names: names as text, values with units, live; on a
# wide screen and a telephone, light and dark, by keyboard; and nothing from outside is asked for.
hostile='<img src=x onerror=document.title=1>'
site a b
web_up
agent_up a
config b agent "sensors:
  - {driver: command, run: [/bin/echo, \"48.25\"], every: 200ms, name: \"$hostile\", unit: \"%RH\"}
  - {driver: command, run: [/bin/false], every: 200ms, name: broken, unit: Cel}
labels: {\"<b>site</b>\": \"\\\"north\\\" & 'south'\"}
report: {wait: 0s}"
sed -i "s|^name: b|name: \"$hostile\"|" "$LAB/b.yaml"
agent b
must "both agents are there" until_true 60 online 2
must "the page shows them" browse seen.py "$hostile"
agent_down a
must "a silent node is shown as such" browse silent.py
