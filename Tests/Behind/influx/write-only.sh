# A user who may write but not read: the log says once that readings may be there twice, and all of them arrive.
site
influx_config '  auth-enabled = true'
influx_up
influx_says "CREATE USER root WITH PASSWORD 'admin-word' WITH ALL PRIVILEGES" >/dev/null
INFLUX_LOGIN=root:admin-word
influx_says 'CREATE DATABASE rivulet' >/dev/null
influx_says "CREATE USER writer WITH PASSWORD 'right-word'" >/dev/null
influx_says 'GRANT WRITE ON rivulet TO writer' >/dev/null
(umask 077 && echo right-word >"$LAB/password")
collector_up
agent_up
must "readings before there is an output" more_readings 40
collector_config "$(influx_output ", user: writer, password-file: $LAB/password")"
reload
must "readings afterwards" more_readings 20
agent_down
must "the server has what the store has" becomes_same 60 values influx_values
must "it is told once" until_true 30 says_once "influx.*does not say which readings it has"
must "nothing was refused" output_is influx refused 0
must "no password in the log" eval '! grep -q right-word "$LAB"/collect_c*.err'
