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
agent_config a "$sensors" "labels: {'k =,\"': 'v, \"=\\'}"
sed -i "s|^name: a\$|name: 'n.*> \"'|" "$LAB/a.yaml"
agent a
must "readings" more_readings 60
agent_down
must "the stream has what the store has" becomes_same 60 values nats_values
nats_messages >"$LAB/messages" || fail "the stream cannot be read"
cut -f2 "$LAB/messages" | sort -u >"$LAB/subjects.out"
cut -f3- "$LAB/messages" >"$LAB/payloads"
must "four words each" test "$(grep -vcE '^[^. ]+\.[^. ]+\.[^. ]+\.[^. ]+$' "$LAB/subjects.out")" = 0
must "no wildcards" test "$(grep -c '[*>]' "$LAB/subjects.out")" = 0
must "nine of the hostile node" test "$(grep -cF 'rivulet.lab.n%2E%2A%3E%20".' "$LAB/subjects.out")" = 9
must "names in the messages" test "$(jq -r 'select(.channel == "*") | .node' "$LAB/payloads" | sort -u |
    tail -n 1)" = 'n.*> "'
must "labels too" test "$(jq -r '.labels["k =,\""]' "$LAB/payloads" | sort -u | head -n 1)" = 'v, "=\'
must "nothing was refused" output_is nats refused 0
