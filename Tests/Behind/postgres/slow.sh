# A server that is locked, or hangs, delays only this output; then everything arrives, once.
site
pg_ready
collector_up "$(pg_output)
- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up
must "readings arrive" until_true 60 pg_has 20
start holder c psql -Xq -h "$LAB/pg" -U postgres rivulet \
    -c "BEGIN; LOCK rivulet.readings IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(600)"
must "the lock is told" until_true 60 says "pg.*(lock|timeout)"
before=$(wc -l <"$LAB/lines.jsonl")
must "readings go on" more_readings 40
must "the other output goes on" until_true 60 eval '[ "$(wc -l <"$LAB/lines.jsonl")" -gt '"$((before + 20))"' ]'
must "it is failing" [ "$(output pg phase)" = failing ]
stop "$holder" KILL
pg_says "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'" >/dev/null
must "then they arrive" until_true 90 output_is pg phase current
servers=$(pgrep -P "$pg"; echo "$pg")
kill -STOP $servers
must "that it hangs is told" until_true 60 says "pg.*no answer within 3 s"
must "readings go on" more_readings 40
kill -CONT $servers
must "then they arrive" until_true 90 output_is pg phase current
agent_down
must "the server has what the store has" becomes_same 60 values pg_values
