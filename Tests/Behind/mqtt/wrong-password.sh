# A wrong password: told once, with what to do; right as soon as the file is. It stands nowhere else.
site
(umask 077 && echo "rivulet:Right-9431" >"$LAB/users" && echo "Wrong-5728" >"$LAB/password")
mosquitto_passwd -U "$LAB/users"
broker_up "listener 1883
allow_anonymous false
password_file $LAB/users"
collector_up "- {name: home, mqtt: {host: 127.0.0.1, user: rivulet, password-file: $LAB/password}}"
agent_up
must "it is refused" until_true 60 output_is home phase failing
must "readings" more_readings 60
must "the message says what to do" says "home.*does not let in user rivulet; check user and password"
must "once" says_once "does not let in user rivulet"
must "status says it too" test "$(output home fault | grep -c 'check user and password')" = 1
echo "Right-9431" >"$LAB/password"
SUBSCRIBE="-u rivulet -P Right-9431"
must "the right password is taken without a restart" until_true 90 output_is home phase current
agent_down
must "nothing is lost" until_true 60 is_newest count
must "no password is in the log" eval '! grep -E "Wrong-5728|Right-9431" "$LAB/collect_c.err" "$LAB/collect_c.out"'
must "nor in status" eval '! status c | grep -E "Wrong-5728|Right-9431"'
chmod 644 "$LAB/password"
stop "$broker"
broker_again
must "a file that others can read is refused" until_true 60 says "others can read it"
