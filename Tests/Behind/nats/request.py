#!/usr/bin/env python3
"""Asks JetStream's API one thing: request.py HOST PORT USER PASSWORD SUBJECT [BODY] prints the answer."""
import os
import sys

from connection import Connection

host, port, user, password, subject = sys.argv[1:6]
connection = Connection(host, int(port), user, password)
answers = f"_INBOX.{os.urandom(8).hex()}"
connection.send(f"SUB {answers} 1\r\n".encode())
connection.publish(subject, answers, sys.argv[6].encode() if len(sys.argv) > 6 else b"")
print(connection.next()[3].decode())
