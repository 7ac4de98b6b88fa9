# A broker that knows MQTT 3.1.1 only: a proxy before a real one that answers version 5 as those do.
site
broker_up
cat >"$LAB/old.py" <<'PY'
import socket, sys, threading

def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

def serve(client):
    first = client.recv(65536)
    # Fixed header, name "MQTT", protocol level.
    level = first[first.index(b"MQTT") + 4]
    print("level", level, flush=True)
    if level != 4:
        if sys.argv[1] == "answer":
            client.sendall(bytes([0x20, 2, 0, 1]))
        client.close()
        return
    server = socket.create_connection(("127.0.0.1", 1883))
    server.sendall(first)
    threading.Thread(target=copy, args=(server, client), daemon=True).start()
    copy(client, server)

listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
PY
start old c python3 "$LAB/old.py" answer 1884
start older c python3 "$LAB/old.py" close 1885
collector_up "- {name: old, mqtt: {host: 127.0.0.1, port: 1884, prefix: old, client-id: one}}
- {name: older, mqtt: {host: 127.0.0.1, port: 1885, prefix: older, client-id: two}}"
agent_up
must "readings" more_readings 20
must "version 5 is refused, 3.1.1 taken" until_true 60 retained_has old/lab/a/count '.value > 1'
must "also where the broker just hangs up" until_true 60 retained_has older/lab/a/count '.value > 1'
must "version 5 was tried first" eval 'head -n 1 "$LAB/old.out" | grep -qx "level 5"'
agent_down
must "the newest is there" until_true 60 eval '[ "$(retained old/lab/a/count | jq .value)" = "$(newest count)" ]'
