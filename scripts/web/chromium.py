"""A headless Chromium, spoken to over its debugging socket."""
import base64
import json
import os
import socket
import struct
import time
import urllib.request

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync", "--remote-debugging-port=0"]


class Tab:
    """A tab of Chromium, spoken to over its debugging socket."""

    def __init__(self, port):
        tabs = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=20))
        address = next(tab["webSocketDebuggerUrl"] for tab in tabs if tab["type"] == "page")
        host, path = address.removeprefix("ws://").split("/", 1)
        self.socket = socket.create_connection(tuple(host.split(":")), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.socket.recv(4096)
        self.rest = self.rest.split(b"\r\n\r\n", 1)[1]
        self.number, self.problems = 0, []
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def take(self, count):
        while len(self.rest) < count:
            more = self.socket.recv(1 << 16)
            if not more:
                raise SystemExit("Chromium closed the connection")
            self.rest += more
        taken, self.rest = self.rest[:count], self.rest[count:]
        return taken

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            length = second & 127
            if length > 125:
                length = struct.unpack(">H" if length == 126 else ">Q", self.take(2 if length == 126 else 8))[0]
            text += self.take(length)
            if first & 128:
                return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        message = json.dumps({"id": self.number, "method": method, "params": parameters}).encode()
        mask, size = os.urandom(4), len(message)
        head = bytes([129, 128 | size]) if size < 126 else bytes([129, 255]) + struct.pack(">Q", size)
        self.socket.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(message)))
        while True:
            answer = self.receive()
            if answer.get("method") == "Runtime.exceptionThrown":
                self.problems.append(str(answer["params"]["exceptionDetails"].get("text")))
            if answer.get("method") == "Log.entryAdded" and answer["params"]["entry"]["level"] == "error":
                self.problems.append(answer["params"]["entry"]["text"])
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, script, wait=False, strict=True):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=wait)
        if "exceptionDetails" in answer and strict:
            raise SystemExit(f"FAILED   {script[:80]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, script, what):
        for _ in range(150):
            # A page that is about to be replaced may have no body.
            if self.evaluate(script, strict=False):
                return
            time.sleep(0.1)
        raise SystemExit(f"FAILED   {what}: {self.evaluate('document.body.innerText.slice(0, 400)', strict=False)}")

    def visit(self, address):
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'", address)

    def press(self, key, shift=False):
        named = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, ""), " ": (32, " "), "ArrowDown": (40, "")}
        code, text = named.get(key, (ord(key.upper()[0]), key if len(key) == 1 else ""))
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text if kind == "keyDown" else "", code=key,
                      windowsVirtualKeyCode=code, modifiers=8 if shift else 0)
        time.sleep(0.15)

    def view(self, width, height, scheme, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, width, height, kind="png", scale=1, **more):
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": scale}
        taken = self.call("Page.captureScreenshot", format=kind, captureBeyondViewport=True, clip=clip, **more)
        return base64.b64decode(taken["data"])

    def height(self):
        return self.call("Page.getLayoutMetrics")["cssContentSize"]["height"]
