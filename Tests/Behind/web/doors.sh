# Who gets in: nobody without the password, nobody who guesses for long, no foreign page; and the page is there for
# this machine alone unless somebody has thought of a password.
site
password='open sesame 42'
(umask 077 && echo "$password" >"$LAB/password")

collector_config "" "web: {port: 8080, bind: 0.0.0.0}"
"$BIN/rivulet" check "$LAB/c.yaml" >"$LAB/check" 2>&1
must "an open page is refused" test $? -ne 0
must "and why is told" grep -q 'shows the page to everybody' "$LAB/check"

# Without a password: for this machine alone, and only under its own names.
web_up
must "served" answers_with 200 /
address=$(in_host c ip -4 -o address show dev eth1 | awk '{print $4}' | cut -d/ -f1)
must "not on the network" test "$(in_host a curl -s -m 5 -o /dev/null -w '%{http_code}' "http://$address:8080/")" = 000
for host in evil.example 127.0.0.1.evil.example localhost.evil.example:8080; do
    must "Host: $host" answers_with 421 /api/fleet -H "Host: $host"
done
for host in localhost "[::1]:8080" 10.1.2.3 c c.local; do
    must "Host: $host" answers_with 200 /api/fleet -H "Host: $host"
done
must "no foreign page loads from it" answers_with 403 /api/fleet -H 'Sec-Fetch-Site: cross-site'
for method in POST PUT DELETE OPTIONS PATCH; do
    must "$method" answers_with 405 / -X "$method" -d x
done
must "HEAD" answers_with 200 /api/fleet -I
must "nothing beside it" answers_with 404 /../../etc/passwd --path-as-is
must "a huge request" answers_with 431 / -H "X: $(head -c 60000 /dev/zero | tr '\0' x)"
must "a policy" test -n "$(header Content-Security-Policy / | grep "default-src 'none'.*script-src 'self'")"
for name in X-Content-Type-Options:nosniff Cache-Control:no-store Referrer-Policy:no-referrer X-Frame-Options:DENY; do
    must "$name" test "$(header "${name%%:*}" /api/fleet)" = "${name#*:}"
done
must "no cookie" test -z "$(header Set-Cookie /)"
collector_down

# With one.
web_up "bind: 0.0.0.0, user: me, password-file: $LAB/password"
must "without a password" answers_with 401 /
must "not even its files" answers_with 401 /page.js
must "nor its metrics" answers_with 401 /metrics
must "the right one" answers_with 200 / -u "me:$password"
must "from elsewhere too" test "$(in_host a curl -s -m 5 -o /dev/null -w '%{http_code}' -u "me:$password" \
    "http://$address:8080/")" = 200
for login in "me:$password " "me:" "you:$password" "me:open"; do
    must "wrong: $login" answers_with 401 / -u "$login"
done
must "the browser shows it" browse login.py me "$password"
codes=$(for _ in 1 2 3 4 5 6 7 8 9 10; do code / -u "me:guess"; echo; done | sort | uniq -c | xargs)
echo "ten guesses: $codes"
# One in two seconds is compared.
must "guessing is slowed" until_true 30 answers_with 429 / -u "me:guess"
must "for others it is not" test "$(in_host a curl -s -m 5 -o /dev/null -w '%{http_code}' -u "me:$password" \
    "http://$address:8080/")" = 200
must "after a while the right one is welcome" until_true 60 answers_with 200 / -u "me:$password"
! grep -qF "$password" "$LAB"/collect_c.err "$LAB"/collect_c.out || fail "the password is in the log"
! tr '\0' ' ' <"/proc/$collect_c/cmdline" | grep -qF "$password" || fail "the password is in the command line"
collector_down

# Every address, of both kinds.
web_up "bind: '::', password-file: $LAB/password"
for place in 127.0.0.1 '[::1]'; do
    must "at $place" test "$(PAGE=http://$place:8080 code /)" = 401
done
must "from elsewhere by IPv4" test "$(in_host a curl -s -m 5 -o /dev/null -w '%{http_code}' \
    "http://$address:8080/")" = 401
collector_down

# TLS of its own.
in_host c openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -days 1 \
    -addext subjectAltName=DNS:localhost -keyout "$LAB/key.pem" -out "$LAB/certificate.pem" 2>"$LAB/openssl.log"
chmod 600 "$LAB/key.pem"
PAGE=https://localhost:8080
collector_up "" "web: {port: 8080, certificate: $LAB/certificate.pem, key: $LAB/key.pem}"
must "HTTPS" until_true 60 answers_with 200 / --cacert "$LAB/certificate.pem"
must "no plain HTTP" test "$(PAGE=http://127.0.0.1:8080 code /)" != 200
collector_down

# A port that another program has, even one that would share it: told once, and taken when it is free.
PAGE=http://127.0.0.1:8080
start squatter c python3 -c 'import socket, time
s = socket.socket()
for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
    s.setsockopt(socket.SOL_SOCKET, option, 1)
s.bind(("127.0.0.1", 8080)); s.listen(); time.sleep(600)'
until_true 30 in_host c sh -c "ss -ltn | grep -q :8080" || fail "no squatter"
collector_up "" "web: {port: 8080}"
must "it is told" until_true 30 says 'port 8080 is taken by another program'
sleep 12
must "once" says_once 'port 8080 is taken'
stop "$squatter"
must "then it is served" until_true 60 answers_with 200 /
