#!/usr/bin/env python3
"""Asks JetStream's API one thing: request.py HOST PORT USER PASSWORD SUBJECT [BODY] prints the answer."""
import sys

from connection import Connection

host, port, user, password, subject = sys.argv[1:6]
connection = Connection(host, int(port), user, password)
connection.send(b"SUB answers 1\r\n")
connection.publish(subject, "answers", sys.argv[6].encode() if len(sys.argv) > 6 else b"")
print(connection.next()[3].decode())
