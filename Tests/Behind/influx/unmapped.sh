# An InfluxDB 2 without a mapping for the bucket cannot say what it has: the log says so once, and all readings arrive.
site
start server c python3 Tests/Behind/http_server.py 8086 unmapped "$LAB/requests"
(umask 077 && echo a-token== >"$LAB/token")
collector_up
agent_up
must "readings before there is an output" more_readings 40
url=http://127.0.0.1:8086
collector_config "- {name: influx, influx: {url: '$url', bucket: my bucket, org: o, token-file: $LAB/token}}"
reload
must "readings afterwards" more_readings 20
agent_down
must "it is told once" until_true 60 says_once 'does not say which readings it has .200, database not found'
all_sent() { [ "$(readings)" = "$(grep -c '^reading,' "$LAB/requests.body")" ]; }
must "every reading is a line" until_true 60 all_sent
must "nothing was refused" output_is influx refused 0
must "and still told once" says_once 'does not say which readings it has'
