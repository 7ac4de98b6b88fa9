"""Just enough of the protocol of NATS to look at streams from outside of our own library."""
import json
import socket
import sys


class Connection:
    def __init__(self, host, port, user, password):
        self.socket = socket.create_connection((host, port), timeout=20)
        self.file = self.socket.makefile("rb")
        assert self.file.readline().startswith(b"INFO")
        login = {"verbose": False, "headers": True, "no_responders": True, "user": user, "pass": password}
        self.send(b"CONNECT " + json.dumps(login).encode() + b"\r\nPING\r\n")

    def send(self, data):
        self.socket.sendall(data)

    def publish(self, subject, reply, body):
        self.send(b"PUB %s %s %d\r\n%s\r\n" % (subject.encode(), reply.encode(), len(body), body))

    def next(self):
        """Subject, reply, headers and payload of the next message."""
        while True:
            line = self.file.readline()
            if not line:
                sys.exit("the server closed the connection")
            words = line.split()
            if words[0] == b"PING":
                self.send(b"PONG\r\n")
            elif words[0] == b"-ERR":
                sys.exit(line.decode())
            elif words[0] in (b"MSG", b"HMSG"):
                body = self.file.read(int(words[-1]) + 2)[:-2]
                head = int(words[-2]) if words[0] == b"HMSG" else 0
                options = 5 if words[0] == b"HMSG" else 4
                reply = words[3].decode() if len(words) > options else ""
                return words[1].decode(), reply, body[:head].decode(), body[head:]
