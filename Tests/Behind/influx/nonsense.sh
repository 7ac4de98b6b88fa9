# Servers that answer slowly, nonsense, or lead elsewhere: told, waited for, nothing lost, nobody delayed.
site
misbehave() {
    [ -z "${server:-}" ] || stop "$server" KILL
    start server c python3 Tests/Behind/http_server.py 8086 "$1" "$LAB/requests.$1" ${2:-}
}
(umask 077 && echo the-secret-word >"$LAB/password")
misbehave garbage
collector_up "$(influx_output ", timeout: 2s, user: me, password-file: $LAB/password")
- {name: lines, json: {file: $LAB/lines.jsonl}}"
agent_up
must "garbage is told" until_true 60 says "influx.*does not speak HTTP"
misbehave page
must "a page is no success" until_true 60 says "influx.*answered 200.*is that an InfluxDB"
misbehave slow
must "slowness is told" until_true 60 says "influx.*no answer within 2s"
must "the other output is not delayed" until_true 30 output_is lines phase current
misbehave redirect http://127.0.0.1:8087/write
start other c python3 Tests/Behind/http_server.py 8087 take "$LAB/requests.other"
must "a redirect is told" until_true 90 says "influx.*answered 307.*leads elsewhere"
must "and not followed" test ! -e "$LAB/requests.other"
misbehave echo
must "a secret that comes back is not shown" until_true 90 says "influx.*rejects user"
misbehave endless
must "an endless answer ends" until_true 90 says "influx.*answered 500"
stop "$server" KILL
server=
must "no secret in the log" eval '! grep -qE "the-secret-word|bWU6dGhl" "$LAB/collect_c.err"'
influx_up
must "then everything arrives" until_true 90 output_is influx phase current
agent_down
must "the server has what the store has" becomes_same 60 values influx_values
