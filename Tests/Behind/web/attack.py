"""What strangers and broken programs send to the page: attack.py URL PID. Each is answered with an error or hung up on,
none holds up others, and the collector neither ends nor grows."""
import os
import socket
import sys
import time
import urllib.request

url, pid = sys.argv[1], int(sys.argv[2])
host, port = url.removeprefix("http://").split(":")


def resident():
    with open(f"/proc/{pid}/status") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def connect():
    one = socket.socket()
    one.settimeout(10)
    one.connect((host, int(port)))
    return one


def told(request, is_whole=False):
    """The first line of what comes back, or nothing if it hangs up. A request that may not be whole ends there."""
    one = connect()
    try:
        one.sendall(request)
        if not is_whole:
            one.shutdown(socket.SHUT_WR)
        return one.recv(200).split(b"\r\n")[0].decode("latin1")
    except OSError:
        return ""
    finally:
        one.close()


def served(what):
    began = time.monotonic()
    with urllib.request.urlopen(url + "/api/fleet", timeout=5) as answer:
        assert answer.status == 200
        answer.read()
    assert time.monotonic() - began < 3, f"{what}: another had to wait {time.monotonic() - began:.1f} s"


before = resident()
named = f"Host: {host}\r\n".encode()
get = b"GET / HTTP/1.1\r\n"

# Malformed and enormous.
for request in [
    b"\0" * 4096, b"\r\n" * 4096, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
    b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    get + b"Host: evil.example\r\n\r\n",
    get + b"Host: [::1]evil.example\r\n\r\n", get + b"Host: localhost:99999999999\r\n\r\n",
    get + named + b"X: " + b"x" * 100_000 + b"\r\n\r\n", get + named + b"X: y\r\n" * 50_000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n" + named + b"\r\n",
    b"GET /" + b"%2e%2e%2f" * 20 + b"etc/passwd HTTP/1.1\r\n" + named + b"\r\n",
    b"GET /../../../../etc/passwd HTTP/1.1\r\n" + named + b"\r\n",
    b"GET //etc/passwd HTTP/1.1\r\n" + named + b"\r\n", b"GET /page.js%00.html HTTP/1.1\r\n" + named + b"\r\n",
    b"GET /api/fleet?" + b"a=b&" * 8000 + b" HTTP/1.1\r\n" + named + b"\r\n", b"GET /%ff%fe HTTP/1.1\r\n" + named + b"\r\n",
    b"POST / HTTP/1.1\r\n" + named + b"Content-Length: 99999999999999999999\r\n\r\n",
    b"POST / HTTP/1.1\r\n" + named + b"Content-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\n" + named + b"Content-Length: 10000000\r\n\r\n" + b"x" * 1_000_000,
    b"POST / HTTP/1.1\r\n" + named + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500,
]:
    line = told(request)
    assert not line.startswith("HTTP/1.1 2"), (request[:80], line)
    served(request[:80])

# Questions that are none.
node = "aaaaa-aaaaa-aaaaa-aaaaa-aaaaaa"
for path in [
    "/api/chart", "/api/chart?node=x&channel=y&from=0&to=1", f"/api/chart?node={node}&channel=y&from=1&to=0",
    f"/api/chart?node={node}&channel=y&from=-9223372036854775808&to=9223372036854775807&points=99999999999999999999",
    f"/api/chart?node={node}&channel={'y' * 64}&from=0&to=1", f"/api/lines?node={node}&from=0&to=99999999999999",
    f"/api/gaps?node={node}'%20OR%201=1--", "/api/mesh?at=9223372036854775808", "/api/mesh?at=-1", "/api/mesh?at=",
    f"/export.csv?node={node}%00&from=0&to=1", "/api/fleet?" + "a=b&" * 100, f"/api/chart?node={node}&node={node}",
]:
    line = told(f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode(), is_whole=True)
    assert line.split(" ")[1:2] != ["500"] and line.startswith("HTTP/1.1 "), (path, line)
served("questions")

# Those that send a byte now and then, more of them than there are places, and those that never read.
slow = []
for number in range(300):
    one = connect()
    slow.append(one)
    try:
        one.sendall(get + b"X-%d: " % number)
    except OSError:
        pass
deaf = []
for path in ["/api/fleet", "/metrics", "/api/events", "/page.js"] * 15:
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    one.connect((host, int(port)))
    one.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode() * 20)
    deaf.append(one)
for _ in range(10):
    for one in slow:
        try:
            one.sendall(b"x")
        except OSError:
            pass
    served("slow ones")
    time.sleep(0.5)
for one in slow + deaf:
    one.close()

# More streams than there is room for: those beyond it are told so, and others are served all the same.
streams = [connect() for _ in range(200)]
for one in streams:
    one.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
lines = []
for one in streams:
    try:
        lines.append(one.recv(100).split(b"\r\n")[0].decode("latin1"))
    except OSError:
        lines.append("")
open_count = sum(line == "HTTP/1.1 200 OK" for line in lines)
refused = sum(line.startswith("HTTP/1.1 503") for line in lines)
assert 100 <= open_count < 200 and open_count + refused == 200, (open_count, refused, set(lines))
served("200 streams")
for one in streams:
    one.close()
# Nobody reads any more: hundreds that come and go leave nothing behind.
for _ in range(300):
    one = connect()
    one.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    one.close()
time.sleep(2)
served("the end")
after = resident()
print(f"measured: 200 streams: {open_count} open, {refused} refused; {before:.0f} MiB before, {after:.0f} after")
assert after < before + 40, (before, after)
os.kill(pid, 0)
