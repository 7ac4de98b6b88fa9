# Who is not let in is told why, once, and gets in without a restart when that has changed.
site
pg_make
pg_up
pg_says "CREATE ROLE rivulet LOGIN PASSWORD 'right-word'" postgres
(umask 077 && echo wrong-word >"$LAB/password")
# libpq's own environment does not count.
export PGHOST=10.9.9.9 PGUSER=nobody PGPASSWORD=other-word PGOPTIONS="-c nonsense=1" PGSSLMODE=require PGDATABASE=other
collector_up "$(pg_output)"
unset PGHOST PGUSER PGPASSWORD PGOPTIONS PGSSLMODE PGDATABASE
agent_up
must "a wrong password is told" until_true 60 says "pg.*password authentication failed.*check user, password-file"
must "readings" more_readings 40
must "once" says_once "password authentication failed"
must "in its status too" [ -n "$(output pg fault)" ]
(umask 077 && echo right-word >"$LAB/password")
must "a missing database is told" until_true 90 says "pg.*database .rivulet. does not exist.*createdb"
pg_says "CREATE DATABASE rivulet" postgres
must "missing rights are told" until_true 90 says "pg.*permission denied.*CREATE"
pg_says "GRANT CREATE ON DATABASE rivulet TO rivulet" postgres
must "then readings arrive" until_true 90 output_is pg phase current
agent_down
must "the server has what the store has" becomes_same 60 values pg_values
status c >"$LAB/status.json"
must "no password in logs, status and arguments" eval \
    '! grep -qE "wrong-word|right-word" "$LAB"/collect_c*.err "$LAB/status.json" /proc/$collect_c/cmdline'
chmod 644 "$LAB/password"
collector_down
collector_again
agent_up
must "a password that others can read is not used" until_true 60 says "pg.*chmod 600"
