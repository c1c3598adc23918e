#!/usr/bin/env python3
"""The checks of scripts/web-browser.sh. Usage: browser.py PROGRAM CHROMIUM [--shots DIR]"""
import argparse
import base64
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

PAGES = ["today", "search", "search?q=which+port+does+staging+use", "memory?id=staging", "edit?id=staging",
         "forget?id=staging", "review", "sessions", "runs", "insight", "settings"]
VIEWS = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "phone": (390, 844, "light")}
CHROMIUM = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0"]

# What assistive technology needs, checked in the page itself. Returns a list of sentences.
AUDIT = r"""(() => {
  const wrong = [];
  const seen = new Set();
  for (const part of document.querySelectorAll("[id]")) {
    if (seen.has(part.id)) wrong.push(`two parts have the id ${part.id}`);
    seen.add(part.id);
  }
  const name = (part) => (part.getAttribute("aria-label") || part.textContent || part.getAttribute("title") || "").trim();
  for (const part of document.querySelectorAll("a[href], button, summary"))
    if (!name(part)) wrong.push(`no name: ${part.outerHTML.slice(0, 90)}`);
  for (const field of document.querySelectorAll("input:not([type=hidden]), select, textarea"))
    if (!field.labels.length && !field.getAttribute("aria-label")) wrong.push(`no label: ${field.outerHTML.slice(0, 90)}`);
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not exactly one h1");
  if (!document.documentElement.lang) wrong.push("no language");
  for (const part of document.querySelectorAll("[aria-labelledby]"))
    if (!document.getElementById(part.getAttribute("aria-labelledby"))) wrong.push("a label is missing");
  for (const part of document.querySelectorAll("svg[role=img]"))
    if (!part.querySelector("title")) wrong.push("a plot has no words");
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
  const light = (text) => rgb(text).slice(0, 3).map((c) => c / 255)
    .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (part) => {
    for (let at = part; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.9) return getComputedStyle(at).backgroundColor;
    }
    return "rgb(255, 255, 255)";
  };
  const words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const part = words.currentNode.parentElement;
    if (!words.currentNode.textContent.trim() || part.closest("svg, script, .unseen, [hidden]") || !part.offsetParent) continue;
    const [a, b] = [light(getComputedStyle(part).color), light(behind(part))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(2)}: ${words.currentNode.textContent.trim().slice(0, 40)}`);
  }
  return [...new Set(wrong)];
})()"""


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
        head = bytes([129]) + (bytes([128 | size]) if size < 126 else bytes([254]) + struct.pack(">H", size))
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

    def evaluate(self, script):
        return self.call("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value")

    def until(self, script, what):
        for _ in range(150):
            if self.evaluate(script):
                return
            time.sleep(0.1)
        raise SystemExit(f"FAILED   {what}: {self.evaluate('document.body.innerText.slice(0, 400)')}")

    def visit(self, address):
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete'", address)

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=key if kind == "keyDown" and len(key) == 1 else "")
        time.sleep(0.15)


def run(program, home, *arguments):
    """Runs a command as a person at a terminal does."""
    line = " ".join([f"'{program}'", *("'" + argument.replace("'", "'\\''") + "'" for argument in arguments)])
    subprocess.run(["script", "-qec", line, "/dev/null"], env=environment(home), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, check=True, timeout=120)


def environment(home):
    return {"PATH": os.environ["PATH"], "HOME": home, "REKINDLE_HOME": home + "/.rekindle", "TZ": "UTC", "LANG": "C.UTF-8",
            "REKINDLE_INDEX_BACKGROUND": "false", "REKINDLE_CAPTURE_BACKGROUND": "false"}


def fill(program, home):
    # At a terminal it would ask questions.
    subprocess.run([program, "init", "--name", "Ada"], env=environment(home), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
    run(program, home, "save", "fix", "staging", "--body", "Staging listens on port 5433, see [[editor]].")
    run(program, home, "save", "preference", "editor", "--body", "Four spaces, never tabs. <script>alert(1)</script>")
    for number in range(4):
        run(program, home, "save", "fact", f"pump-{number}", "--body", f"Pump {number} needs postgres and billing.")


def check(tab, base, shots):
    wrong = 0
    for page in PAGES:
        for view, (width, height, scheme) in VIEWS.items():
            tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=view == "phone")
            tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            tab.visit(base + page)
            found = tab.evaluate(AUDIT) + tab.problems
            tab.problems = []
            wrong += len(found)
            for sentence in found:
                print(f"FAILED   {page} ({view}): {sentence}")
            if shots:
                size = tab.call("Page.getLayoutMetrics")["cssContentSize"]
                clip = {"x": 0, "y": 0, "width": width, "height": min(max(size["height"], 600), 2400), "scale": 1}
                picture = tab.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
                name = page.split("?")[0] + ("-hits" if "?q" in page else "")
                with open(os.path.join(shots, f"{name}-{view}.png"), "wb") as file:
                    file.write(base64.b64decode(picture["data"]))
    print(f"{'FAILED' if wrong else 'PASSED'}   {len(PAGES)} pages in {len(VIEWS)} views")
    return wrong


def keyboard(tab, base):
    tab.visit(base + "today")
    tab.press("/")
    tab.until("location.pathname.endsWith('/search')", "the key / opens the search")
    tab.evaluate("document.querySelector('input[type=search]').focus()")
    for letter in "staging":
        tab.press(letter)
    tab.until("document.getElementById('results').innerText.includes('5433')", "typing searches")
    tab.until("location.search.includes('q=staging')", "the address follows")
    tab.press("Escape")
    tab.press("i")
    tab.until("location.pathname.endsWith('/insight')", "the key i opens Insight")
    tab.visit(base + "memory?id=pump-1")
    tab.evaluate("document.querySelector('a[href^=\"forget\"]').focus()")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    tab.until("location.pathname.endsWith('/forget')", "a link opens with Enter")
    tab.evaluate("document.querySelector('button.danger').focus()")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    tab.until("document.body.innerText.includes('Forgotten.')", "a memory is forgotten with Enter")
    if tab.problems:
        raise SystemExit(f"FAILED   {tab.problems}")
    print("PASSED   search, pages and a decision by keyboard alone")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("chromium")
    parser.add_argument("--shots")
    options = parser.parse_args()
    if options.shots:
        os.makedirs(options.shots, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="rekindle-web-")
    started = []
    try:
        home = folder + "/home"
        os.makedirs(home)
        fill(options.program, home)
        address_file = folder + "/address"
        page = subprocess.Popen(["script", "-qfec", f"'{options.program}' web --no-open", address_file], env=environment(home),
                                cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        started.append(page)
        browser = subprocess.Popen([options.chromium, *CHROMIUM, f"--user-data-dir={folder}/profile", "about:blank"],
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        started.append(browser)
        address = port = None
        for _ in range(300):
            text = open(address_file).read() if os.path.exists(address_file) else ""
            address = next((word for word in text.split() if word.startswith("http://") and "token=" in word), None)
            ready = folder + "/profile/DevToolsActivePort"
            port = open(ready).read().split()[0] if os.path.exists(ready) and os.path.getsize(ready) else None
            if address and port:
                break
            time.sleep(0.1)
        if not address or not port:
            raise SystemExit("FAILED   the page or the browser did not start")
        tab = Tab(port)
        tab.visit(address)
        tab.until("location.pathname.endsWith('/today')", "the token opens the page")
        base = address.split("?")[0]
        wrong = check(tab, base, options.shots)
        keyboard(tab, base)
        sys.exit(1 if wrong else 0)
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
