#!/usr/bin/env python3
"""Reads a JetStream stream from its beginning, over a bare socket: a line for each message, `id TAB subject TAB payload`.

read_stream.py HOST PORT USER PASSWORD STREAM: ends when the stream's last message has come.
"""
import json
import os
import sys

from connection import Connection

host, port, user, password, stream = sys.argv[1:]
connection = Connection(host, int(port), user, password)
# Subjects of our own: the server goes on for seconds to deliver to whoever read before us.
answers, readings = (f"_INBOX.{os.urandom(8).hex()}.{kind}" for kind in ("answers", "readings"))
connection.send(f"SUB {answers} 1\r\nSUB {readings} 2\r\n".encode())
connection.publish(f"$JS.API.STREAM.INFO.{stream}", answers, b"")
info = json.loads(connection.next()[3])
if "error" in info:
    sys.exit(json.dumps(info["error"]))
left = info["state"]["messages"]
last = info["state"]["last_seq"]
consumer = {"stream_name": stream, "config": {"deliver_subject": readings, "ack_policy": "none",
                                              "deliver_policy": "all", "replay_policy": "instant"}}
connection.publish(f"$JS.API.CONSUMER.CREATE.{stream}", answers, json.dumps(consumer).encode())
while left:
    subject, reply, head, body = connection.next()
    if not reply.startswith("$JS.ACK"):
        answer = json.loads(body)
        if "error" in answer:
            sys.exit(json.dumps(answer["error"]))
        continue
    lines = dict(line.split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
    print(lines.get("Nats-Msg-Id", ""), subject, body.decode(), sep="\t")
    # $JS.ACK.<stream>.<consumer>.<delivered>.<stream's sequence>.<consumer's>.<time>.<pending>
    words = reply.split(".")
    left = int(words[-1]) and int(words[-4]) < last
