#!/usr/bin/env python3
"""A server that misbehaves, or shows what it was sent: http_server.py PORT MODE LOG [ARGUMENT].

Every request becomes a line of LOG: when (seconds), method, path, Authorization.
  slow      takes the request and never answers
  garbage   answers with bytes that are no HTTP
  page      answers 200 with a web page, whatever is asked
  busy      answers 503 and asks to be left alone for ARGUMENT seconds
  redirect  sends everybody to ARGUMENT
  endless   answers 500 and a body that does not end
  echo      answers 401 with whatever Authorization was sent
  take      answers 204, and appends the body to LOG.body
  mute      as take; to questions 503, and asks to be left alone for 3 s
  unmapped  as take; to questions 200 and an error, as an InfluxDB 2 without a mapping for the bucket
"""
import http.server
import socketserver
import sys
import time

port, mode, log = int(sys.argv[1]), sys.argv[2], sys.argv[3]
argument = sys.argv[4] if len(sys.argv) > 4 else ""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        with open(log, "a") as file:
            authorization = self.headers.get("Authorization", "-")
            file.write(f"{time.time():.3f} POST {self.path} {authorization}\n")
        getattr(self, mode)(body)

    def slow(self, body):
        time.sleep(3600)

    def garbage(self, body):
        self.wfile.write(b"\x00\x01SSH-2.0 nonsense\r\n\r\n" * 100)
        self.close_connection = True

    def page(self, body):
        self.answer(200, b"<html><body>It works!</body></html>", Content_Type="text/html")

    def busy(self, body):
        self.answer(503, b'{"error":"overloaded"}', Retry_After=argument)

    def redirect(self, body):
        self.answer(307, Location=argument)

    def endless(self, body):
        self.send_response(500)
        self.end_headers()
        try:
            while True:
                self.wfile.write(b"x" * 65536)
        except OSError:
            pass
        self.close_connection = True

    def echo(self, body):
        authorization = self.headers.get("Authorization", "")
        self.answer(401, f'{{"error":"no {authorization}"}}'.encode())

    def take(self, body):
        with open(log + ".body", "ab") as file:
            file.write(body)
        self.answer(204)

    def mute(self, body):
        if not self.path.startswith("/query"):
            return self.take(body)
        self.answer(503, b'{"error":"too many queries"}', Retry_After="3")

    def unmapped(self, body):
        if not self.path.startswith("/query"):
            return self.take(body)
        self.answer(200, b'{"results":[{"statement_id":0,"error":"database not found: my bucket"}]}')


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True


Server(("127.0.0.1", port), Handler).serve_forever()
