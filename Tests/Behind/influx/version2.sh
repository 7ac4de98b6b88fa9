# The API of InfluxDB 2.x, as far as what is sent: path, token, lines.
site
start server c python3 Tests/Behind/http_server.py 8086 take "$LAB/requests"
(umask 077 && echo a-token== >"$LAB/token")
collector_up "- {name: influx, influx: {url: 'http://127.0.0.1:8086', bucket: my bucket, org: o&o, token-file: $LAB/token}}"
agent_up
must "readings" more_readings 30
agent_down
must "path and token" until_true 60 grep -q 'POST /api/v2/write?org=o%26o&bucket=my%20bucket&precision=ns Token a-token==$' "$LAB/requests"
lines() {
    sed -nE 's/^reading,channel=([^,]*),node=a,peer=([^,]*),run=([^,]*)(,unit=[^ ]*)? (value=([^,]*)|reason="[^"]*"),sequence=([0-9]*)i,hops=[0-9]*i [0-9]{19}$/\2\t\3\t\7\t\1\t\6/p' \
        "$LAB/requests.body" | sed 's/\\ / /g'
}
must "every reading is a line" becomes_same 60 values lines
