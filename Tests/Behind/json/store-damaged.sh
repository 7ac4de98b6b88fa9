# The store is set aside as damaged: the outputs follow the new one, and go on.
site
collector_up "- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up
must "readings" until_true 60 output_at_least lines delivered 20
collector_down
head -c 20000 /dev/urandom >"$LAB/c/readings.sqlite"
rm -f "$LAB"/c/readings.sqlite-*
collector_again
must "it is set aside" until_true 60 says "kept as .*damaged-1"
must "readings go on" until_true 60 output_at_least lines delivered 20
agent_down
newer() { keys <"$LAB/lines.jsonl" | sort -u; }
has_all_of_store() { stored | keys >"$LAB/expected"; newer >"$LAB/found"; [ -s "$LAB/expected" ] && [ -z "$(comm -23 "$LAB/expected" "$LAB/found")" ]; }
must "the file has all that the new store has" until_true 60 has_all_of_store
