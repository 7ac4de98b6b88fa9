# On standard output there are the lines and nothing else.
site
collector_up '- {json: {file: "-"}}'
agent_up
must "readings" more_readings 20
agent_down
must "it has what the store has, once" becomes_same 60 keys eval 'keys <"$LAB/collect_c.out"'
must "no table is between" [ "$(grep -vc '^{"time":' "$LAB/collect_c.out")" = 0 ]
