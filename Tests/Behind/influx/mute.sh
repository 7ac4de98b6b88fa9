# An InfluxDB that takes points and answers no question: history waits for a few attempts, then it is sent all the same.
site
start server c python3 Tests/Behind/http_server.py 8086 mute "$LAB/requests"
collector_up
agent_up
must "readings before there is an output" more_readings 40
collector_config "- {name: influx, influx: {url: 'http://127.0.0.1:8086', database: rivulet}}"
reload
must "readings afterwards" more_readings 20
agent_down
must "it is told" until_true 90 says_once 'does not say which readings it has .503, too many queries'
all_sent() { [ "$(readings)" = "$(grep -c '^reading,' "$LAB/requests.body")" ]; }
must "every reading is a line" until_true 90 all_sent
must "nothing was refused" output_is influx refused 0
