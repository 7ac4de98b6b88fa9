# What is sent is what the published format says: Snappy and protobuf, read by their own libraries.
site
cat >"$LAB/remote.proto" <<'PROTO'
syntax = "proto3";
message Sample { double value = 1; int64 timestamp = 2; }
message Label { string name = 1; string value = 2; }
message TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; }
message WriteRequest { repeated TimeSeries timeseries = 1; }
PROTO
protoc --proto_path="$LAB" --python_out="$LAB" "$LAB/remote.proto"
cat >"$LAB/receiver.py" <<'PYTHON'
import http.server, sys
import snappy
import remote_pb2

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *arguments): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Type"] == "application/x-protobuf", self.headers
        assert self.headers["Content-Encoding"] == "snappy", self.headers
        assert self.headers["X-Prometheus-Remote-Write-Version"] == "0.1.0", self.headers
        plain = snappy.uncompress(body)
        request = remote_pb2.WriteRequest.FromString(plain)
        assert request.SerializeToString(deterministic=True) == plain, "other bytes"
        with open(sys.argv[1], "a") as file:
            for series in request.timeseries:
                labels = [(label.name, label.value) for label in series.labels]
                assert labels == sorted(labels), labels
                assert len({name for name, _ in labels}) == len(labels), labels
                times = [sample.timestamp for sample in series.samples]
                assert times and times == sorted(set(times)), times
                of = dict(labels)
                # The end of a series is no number.
                for sample in (one for one in series.samples if one.value == one.value):
                    print(of["peer"], of["channel"].replace("\\", "\\\\"), sample.timestamp, f"{sample.value:.15g}", sep="\t", file=file)
        self.send_response(204)
        self.send_header("Content-Length", "0")
        self.end_headers()

http.server.HTTPServer(("127.0.0.1", 9090), Handler).serve_forever()
PYTHON
start receiver c env PYTHONPATH="$LAB" /usr/bin/python3 "$LAB/receiver.py" "$LAB/samples"
collector_up "$(write_output)"
agent_up a "sensors:
  - {driver: command, run: [/bin/sh, $LAB/count_a.sh], every: 200ms, name: count}
  - {driver: command, run: [/bin/echo, '21.25'], every: 100ms, name: 'ä \"\\\\ {x}', unit: Cel}" \
    "labels: {'Größe \"': 'a\\\\b'}"
must "readings" more_readings 100 90
agent_down
must "every reading is a sample" becomes_same 60 as_samples cat "$LAB/samples"
must "the receiver found nothing wrong" test ! -s "$LAB/receiver.err"
