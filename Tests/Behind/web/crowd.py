"""Opens so many pages at once: crowd.py URL PID PAGES."""
import os
import select
import socket
import sys
import time
import urllib.request

url, pid, pages = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
host, port = url.removeprefix("http://").split(":")
seconds = 20


def cost():
    """CPU seconds and resident MiB of the process."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/status") as file:
        resident = next(line for line in file if line.startswith("VmRSS")).split()[1]
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), int(resident) / 1024


def connect(buffer=None):
    one = socket.socket()
    if buffer:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
    one.connect((host, int(port)))
    one.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return one


cpu, resident = cost()
began = time.monotonic()
time.sleep(5)
idle = (cost()[0] - cpu) / (time.monotonic() - began)
sockets = [connect() for _ in range(pages)]
deaf = connect(2048)
heard = {one: [0, 0, b""] for one in sockets}
cpu = cost()[0]
began = time.monotonic()
slowest = 0
asked = began
while time.monotonic() < began + seconds:
    for one in select.select(sockets, [], [], 0.5)[0]:
        data = one.recv(1 << 20)
        assert data, "a page was hung up on"
        counts = heard[one]
        # An event's name may lie across two pieces.
        text = counts[2] + data
        counts[0] += text.count(b"event: fleet\n")
        counts[1] += text.count(b"event: change\n")
        counts[2] = text[-12:] if b"event: " not in text[-12:] else b""
    if time.monotonic() > asked + 1:
        asked = time.monotonic()
        with urllib.request.urlopen(url + "/api/fleet", timeout=20) as answer:
            answer.read()
        slowest = max(slowest, time.monotonic() - asked)
busy = (cost()[0] - cpu) / (time.monotonic() - began)
print(f"measured: {pages} pages: {100 * busy:.1f} % of a processor (with none {100 * idle:.1f} %), "
      f"{cost()[1]:.1f} MiB resident (before {resident:.1f}), slowest other answer {1000 * slowest:.0f} ms")
assert all(counts[0] == 1 for counts in heard.values()), "a page did not get the whole"
fewest = min(counts[1] for counts in heard.values())
assert fewest >= seconds / 4, f"a page heard of {fewest} changes only in {seconds} s"
