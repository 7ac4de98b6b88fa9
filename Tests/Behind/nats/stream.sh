# A stream that cannot serve is named with what to do, and never changed; a full one is waited for.
site
nats_up
stream() { nats_request "\$JS.API.STREAM.$1.RIVULET" "${2:-}" | jq -r '.error.description // "done"'; }
create() { stream CREATE "{\"name\": \"RIVULET\", \"retention\": \"limits\", \"storage\": \"file\", $1}"; }
# Where none is, the collector makes ours, and may be quicker.
replaced() { stream DELETE >/dev/null; [ "$(create "$1")" = done ]; }
must "a stream of others" test "$(create '"subjects": ["other.>"]')" = done
collector_up "$(nats_output)"
agent_up
must "subjects are told" until_true 60 says "nats.*does not listen to rivulet.lab.>.*name another stream"
must "readings" more_readings 40
must "once" says_once "does not listen"
must "it is as it was" test "$(nats_request '$JS.API.STREAM.INFO.RIVULET' | jq -c .config.subjects)" = '["other.>"]'
must "one that forgets at once" until_true 60 replaced '"subjects": ["rivulet.>"], "duplicate_window": 5000000000'
must "its window is told" until_true 90 says "nats.*duplicate window is only 5 s.*dupe-window"
must "one that is soon full" until_true 60 replaced '"subjects": ["rivulet.>"], "discard": "new", "max_msgs": 30'
must "full is told" until_true 90 says "nats.*(maximum messages exceeded|no room).*make room"
must "it has what it can hold" test "$(nats_count)" = 30
must "gone" test "$(stream DELETE)" = done
must "then ours is made" until_true 90 output_is nats phase current
agent_down
must "nothing waits" until_true 60 output_is nats waiting 0
