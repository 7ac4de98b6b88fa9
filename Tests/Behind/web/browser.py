"""Headless Chromium by the DevTools protocol: what a person sees and does. Standard library only."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request


class Socket:
    """A WebSocket client (RFC 6455), as far as DevTools needs one."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
                             f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                             "Sec-WebSocket-Version: 13\r\n\r\n").encode())
        self.file = self.socket.makefile("rb")
        while self.file.readline() not in (b"\r\n", b""):
            pass

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x81, 0xFE, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0xFF, size)
        self.socket.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        data = b""
        while True:
            first, second = self.file.read(2)
            size = second & 127
            if size == 126:
                size, = struct.unpack("!H", self.file.read(2))
            elif size == 127:
                size, = struct.unpack("!Q", self.file.read(8))
            part = self.file.read(size)
            if first & 15 in (0, 1, 2):
                data += part
                if first & 128:
                    return data.decode()


class Browser:
    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp(prefix="rivulet-browser-")
        self.process = subprocess.Popen(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-port=0",
             "--remote-allow-origins=*", "--lang=en", f"--user-data-dir={self.folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        file = os.path.join(self.folder, "DevToolsActivePort")
        until(lambda: os.path.exists(file) and open(file).read().count("\n") >= 1, 60, "no Chromium")
        self.port = int(open(file).readline())
        pages = until(self._pages, 30, "Chromium shows no page")
        self.socket = Socket(pages[0]["webSocketDebuggerUrl"])
        self.number = 0
        # What the page itself complained about: violations of its policy, exceptions, console errors.
        self.complaints = []
        self.requests = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.size(width, height)

    def _pages(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/json/list") as answer:
            return [page for page in json.load(answer) if page["type"] == "page"]

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                assert "error" not in message, f"{method}: {message['error']}"
                return message["result"]
            self._note(message)

    def _note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
            self.complaints.append(json.dumps(parameters["args"])[:500])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    # What a person does

    def size(self, width, height, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": name}])

    def zone(self, name):
        self.call("Emulation.setTimezoneOverride", timezoneId=name)

    def login(self, user, password):
        text = base64.b64encode(f"{user}:{password}".encode()).decode()
        self.call("Network.setExtraHTTPHeaders", headers={"Authorization": "Basic " + text})

    def goto(self, url):
        result = self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'", 30)
        return result

    def click(self, selector):
        box = self.box(selector)
        self.mouse(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    def mouse(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def drag(self, x, y, to):
        self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for step in range(1, 6):
            self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + (to - x) * step / 5, y=y,
                      button="left", buttons=1)
        self.call("Input.dispatchMouseEvent", type="mouseReleased", x=to, y=y, button="left", clickCount=1)

    def key(self, key, text=None):
        more = {"text": text} if text else {}
        codes = {"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowRight": 39}
        if key == "Enter":
            more = {"text": "\r"}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key,
                  windowsVirtualKeyCode=codes.get(key, 0), **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key,
                  windowsVirtualKeyCode=codes.get(key, 0))

    # What a person sees

    def eval(self, script):
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, f"{script}: {result['exceptionDetails']}"
        return result["result"].get("value")

    def wait(self, script, seconds=60, what=None):
        return until(lambda: self.eval(script), seconds, what or f"never came true: {script}")

    def text(self, selector="body"):
        """As it is rendered: hidden text is not in it."""
        return self.eval(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def box(self, selector):
        return self.eval(f"""(() => {{
            const one = document.querySelector({json.dumps(selector)});
            one.scrollIntoView({{block: "center"}});
            return one.getBoundingClientRect().toJSON();
        }})()""")

    def screenshot(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def too_wide(self):
        """What sticks out of the window on the right, but for what scrolls in a box of its own."""
        return self.eval("""[...document.querySelectorAll("body *")].filter((one) =>
            one.getClientRects().length && one.getBoundingClientRect().right > innerWidth + 1
            && !one.closest(".scroll, .mesh, .chart, .unseen, .skip")).map((one) =>
            one.tagName + "." + one.className + " " + one.textContent.slice(0, 40))""")

    def poor_contrast(self):
        """Visible texts whose colour is too near to what is behind them (WCAG 2.2, 1.4.3)."""
        return self.eval("""(() => {
            const parse = (text) => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
                .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = (one) => {
                for (let at = one; at; at = at.parentElement) {
                    const colour = parse(getComputedStyle(at).backgroundColor);
                    if (colour.length < 4 || colour[3] === 1) return colour;
                }
                return [255, 255, 255];
            };
            const poor = new Set();
            const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walk.nextNode()) {
                const one = walk.currentNode.parentElement;
                if (!walk.currentNode.data.trim() || !one.getClientRects().length) continue;
                if (one.closest(".unseen, .skip, option")) continue;
                const style = getComputedStyle(one);
                const ink = parse(one.namespaceURI.endsWith("svg") ? style.fill : style.color);
                const [a, b] = [light(ink), light(behind(one))];
                const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
                if (ratio < 4.5) poor.add(`${ratio.toFixed(2)} ${one.tagName}.${one.className.baseVal
                    ?? one.className}: ${walk.currentNode.data.trim().slice(0, 30)}`);
            }
            return [...poor];
        })()""")


def until(condition, seconds, what):
    """The condition's value, once it is true; never a matter of how fast this machine is."""
    end = time.monotonic() + seconds
    while True:
        try:
            value = condition()
            if value:
                return value
        except OSError:
            pass
        assert time.monotonic() < end, what
        time.sleep(0.1)
