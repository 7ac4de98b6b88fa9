# A wrong password is told once, with what to do, and shown nowhere; the right one is enough, without a restart.
site
nats_up
(umask 077 && echo wrong-word >"$LAB/password")
collector_up "$(nats_output)"
agent_up
must "the refusal is told" until_true 60 says "nats.*Authorization Violation.*check user, password-file"
must "readings" more_readings 40
must "once" says_once "Authorization Violation"
(umask 077 && echo right-word >"$LAB/password")
must "messages arrive" until_true 90 output_is nats phase current
agent_down
must "the stream has what the store has" becomes_same 60 values nats_values
status c >"$LAB/status.json"
must "no password in logs and status" eval '! grep -qE "wrong-word|right-word" "$LAB"/collect_c*.err "$LAB/status.json"'
