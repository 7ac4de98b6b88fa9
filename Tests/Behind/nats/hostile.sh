# Names that would be subjects, wildcards or headers: each is one word of a subject, and arrives as it is.
site
nats_up
collector_up "$(nats_output)"
cat >"$LAB/names" <<'NAMES'
a.b
*
>
a.>
$JS.API.STREAM.DELETE.RIVULET
"q" \ 'q'
%2E
<script>alert(1)</script>
😀 é
NAMES
sensors="sensors:"
while IFS= read -r name; do
    sensors="$sensors
  - {driver: command, run: [/bin/echo, '1.5'], every: 300ms, name: '$(sed "s/'/''/g" <<<"$name")'}"
done <"$LAB/names"
agent_up a "$sensors" "labels: {'k =,\"': 'v, \"=\\'}"
sed -i "s|^name: a\$|name: 'n.*> \"'|" "$LAB/a.yaml"
stop "$agent_a"
agent a
must "readings" more_readings 60
agent_down
must "the stream has what the store has" becomes_same 30 values nats_values
subjects=$(nats_messages | cut -f2 | sort -u)
must "four words each" test "$(grep -vcE '^[^. ]+\.[^. ]+\.[^. ]+\.[^. ]+$' <<<"$subjects")" = 0
must "no wildcards" eval '! grep -q "[*>]" <<<"$subjects"'
must "nine of the hostile node" test "$(grep -cF 'rivulet.lab.n%2E%2A%3E%20".' <<<"$subjects")" = 9
must "names in the messages" test "$(nats_messages | cut -f3- | jq -r 'select(.channel == "*") | .node' | sort -u |
    tail -n 1)" = 'n.*> "'
must "labels too" test "$(nats_messages | cut -f3- | jq -r '.labels["k =,\""]' | sort -u | head -n 1)" = 'v, "=\'
must "nothing was refused" output_is nats refused 0
