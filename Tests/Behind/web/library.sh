# Sourced by the cases of this lane: the page of c on port 8080 of its loopback.
PAGE=http://127.0.0.1:8080

# web_up [KEYS [MORE]]: c with its page, and these keys of `web` beside the port.
web_up() {
    collector_up "" "web: {port: 8080${1:+, $1}}
collector: {window: 1s}
${2:-}"
    until_true 60 page_answers || fail "no page"
}

page_answers() { [ "$(code /page.js)" != 000 ]; }

# get PATH [CURL OPTION…]: the body.
get() { in_host c curl -sS -m 20 "${@:2}" "$PAGE$1"; }

# code PATH [CURL OPTION…]: the status.
code() { in_host c curl -s -m 20 -o /dev/null -w '%{http_code}' "${@:2}" "$PAGE$1"; }

# answers_with STATUS PATH [CURL OPTION…]
answers_with() { [ "$(code "${@:2}")" = "$1" ]; }

# header NAME PATH [CURL OPTION…]
header() { in_host c curl -s -m 20 -D - -o /dev/null "${@:3}" "$PAGE$2" | tr -d '\r' | sed -n "s/^$1: //Ip"; }

# browse SCRIPT [ARGUMENT…]: a script of this lane in c's host; what it asserts is the case's.
browse() { in_host c python3 "Tests/Behind/web/$1" "$PAGE" "${@:2}"; }

# online COUNT: so many nodes are there.
online() { [ "$(get /api/fleet | jq '[.nodes[] | select(.online and .role == "agent")] | length')" = "$1" ]; }

# peer NAME: the PeerID of a node, by its name.
peer() { get /api/fleet | jq -r --arg name "$1" '.nodes[] | select(.name == $name) | .peer'; }
