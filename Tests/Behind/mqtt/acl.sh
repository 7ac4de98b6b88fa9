# A topic that the broker's rules deny: what would go there is refused and counted, said once; the rest goes on.
site
(umask 077 && echo "rivulet:Right-9431" >"$LAB/users" && echo "Right-9431" >"$LAB/password")
mosquitto_passwd -U "$LAB/users"
cat >"$LAB/acl" <<ACL
user rivulet
topic readwrite rivulet/#
topic deny rivulet/lab/a/bench
ACL
broker_up "listener 1883
allow_anonymous false
password_file $LAB/users
acl_file $LAB/acl"
SUBSCRIBE="-u rivulet -P Right-9431"
collector_up "- {name: home, mqtt: {host: 127.0.0.1, user: rivulet, password-file: $LAB/password}}"
agent_up
must "refused readings are counted" until_true 60 output_at_least home refused 10
must "the others go on" until_true 60 retained_has rivulet/lab/a/count '.value > 3'
must "it is said, and once" until_true 30 says_once "takes nothing on rivulet/lab/a/bench"
agent_down
must "nothing waits" until_true 60 output_is home waiting 0
must "the newest is there" until_true 30 is_newest count
refused_are_counted() { [ "$(output home refused)" = "$(stored | jq -r 'select(.channel == "bench") | 1' | wc -l)" ]; }
must "every reading of that channel is counted" until_true 60 refused_are_counted
