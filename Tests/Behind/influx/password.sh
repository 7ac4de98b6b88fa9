# A wrong password is told once, with what to do, and shown nowhere; the right one is enough, without a restart.
site
influx_config '  auth-enabled = true'
influx_up
influx_says "CREATE USER root WITH PASSWORD 'admin-word' WITH ALL PRIVILEGES" >/dev/null
INFLUX_LOGIN=root:admin-word
influx_says "CREATE USER writer WITH PASSWORD 'right-word'" >/dev/null
(umask 077 && echo wrong-word >"$LAB/password")
collector_up "$(influx_output ", user: writer, password-file: $LAB/password")"
agent_up
must "the refusal is told" until_true 60 says "influx.*rejects user and password"
must "readings" more_readings 40
(umask 077 && echo right-word >"$LAB/password")
must "without rights, the database is not made" until_true 60 says "influx.*may not create it"
influx_says 'CREATE DATABASE rivulet' >/dev/null
influx_says 'GRANT ALL ON rivulet TO writer' >/dev/null
must "readings arrive" until_true 90 output_is influx phase current
must "it was told once" says_once "influx.*rejects user and password"
agent_down
must "the server has what the store has" becomes_same 60 values influx_values
status c >"$LAB/status.json"
must "no password in logs and status" eval '! grep -qE "wrong-word|right-word" "$LAB"/collect_c*.err "$LAB/status.json"'
chmod 644 "$LAB/password"
collector_down
collector_again
agent_up
must "a password that others can read is not used" until_true 60 says "influx.*chmod 600"
