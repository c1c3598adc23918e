#!/usr/bin/env python3
"""The measurements of scripts/bench-web.sh. Usage: bench.py PROGRAM [--chromium PROGRAM] [--home DIR] [--memories N] [--rounds N]"""
import argparse
import http.client
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.parse

WORDS = """deploy staging cluster queue worker token cache index schema migration cron pipeline invoice webhook retry backoff
latency metrics dashboard release branch compose gateway certificate region bucket topic offset consumer partition replica shard
snapshot restore billing ledger refund currency rounding tax customer address shipment warehouse scanner label printer""".split()
KINDS = ["fix", "preference", "decision", "howto", "fact"]
SENTENCES = ["The {a} of the {b} listens on port {n}.", "Never restart the {a} while the {b} is migrating.",
             "We keep the {a} in the {b}, because the {c} reads it first.", "If the {a} fails with code {n}, clear the {b} and run the {c} again.",
             "The {a} must be released before the {b}; the {c} checks that."]
PAGES = ["today", "search", "search?page=3", "review", "insight", "settings", "sessions"]
ROW = b'class="row"'
LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def note(rng, number):
    """Memory `number`, the same in a store of any size."""
    rng.seed(number)
    digits, rest = "", number
    for _ in range(12):
        digits, rest = LETTERS[rest % 32] + digits, rest // 32
    kind, scope = KINDS[number % 5], "scope: global"
    if number % 3:
        scope = f"scope: project\nproject: github.com/acme/project-{number % 20}"
    day = f"2026-{1 + number // 28 % 10:02}-{1 + number % 28:02}T08:00:00Z"
    text = " ".join(rng.choice(SENTENCES).format(a=rng.choice(WORDS), b=rng.choice(WORDS), c=rng.choice(WORDS), n=rng.randint(1000, 9999))
                    for _ in range(5))
    return kind, (f"---\nid: m-{digits}\nkind: {kind}\nstatus: active\ncreated: {day}\nupdated: {day}\ntags: []\n"
                  f"group: personal-private\n{scope}\norigin: user\n---\n\n{text}\n")


def write_store(program, environment, home, count):
    subprocess.run([program, "init", "--name", "Ada"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    rng = random.Random()
    folder = home / "vault/MemoryVault/personal-private"
    for kind in KINDS:
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        kind, text = note(rng, number)
        (folder / kind / f"note-{number}.md").write_text(text)
    began = time.monotonic()
    subprocess.run([program, "reindex"], env=environment, capture_output=True, check=True)
    print(f"indexed {count} notes in {time.monotonic() - began:.0f} s")


def questions(count):
    rng = random.Random(7)
    asked = ["which port does the {a} of the {b} listen on", "what to do if the {a} fails with code {n}", "is the {a} released before the {b}",
             "why do we keep the {a} in the {b}", "{a} {b}"]
    return [rng.choice(asked).format(a=rng.choice(WORDS), b=rng.choice(WORDS), n=rng.randint(1000, 9999)) for _ in range(count)]


def spread(what, times, note=""):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))]
    print(f"{what:<30} p50 {at(0.5):7.1f} ms   p95 {at(0.95):7.1f} ms{note}", flush=True)


class Page:
    """The running page, over one connection that stays open."""

    def __init__(self, program, environment):
        self.process = subprocess.Popen([program, "web", "--no-open"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, stdin=subprocess.DEVNULL)
        self.address = self.process.stdout.readline().strip()
        parts = urllib.parse.urlsplit(self.address)
        self.base, self.path = self.address.split("?")[0], parts.path
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=300)
        self.connection.request("GET", f"{parts.path}?{parts.query}")
        answer = self.connection.getresponse()
        answer.read()
        self.cookie = answer.getheader("set-cookie").split(";")[0]

    def processor(self):
        """The processor time of the server so far, in milliseconds."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def get(self, page):
        began = time.monotonic()
        self.connection.request("GET", self.path + page, headers={"Cookie": self.cookie})
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{page}: {answer.status}")
        return (time.monotonic() - began) * 1000, body

    def measure(self, what, pages):
        """Prints the wall clock, and the processor time of the server, which other work on the machine disturbs least."""
        before, times, bodies = self.processor(), [], []
        for page in pages:
            took, body = self.get(page)
            times.append(took)
            bodies.append(body)
        mean = (self.processor() - before) / len(times)
        spread(what, times, f"   processor {mean:6.1f} ms   of {len(times)}")
        return bodies

    def memory(self):
        lines = pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) // 1000 for line in lines if line.startswith("VmHWM"))

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


def paint(page, chromium):
    from chromium import OPTIONS, Tab
    folder = tempfile.mkdtemp(prefix="rekindle-bench-")
    browser = subprocess.Popen([chromium, *OPTIONS, f"--user-data-dir={folder}", "about:blank"], stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        ready = pathlib.Path(folder, "DevToolsActivePort")
        while not (ready.exists() and ready.read_text()):
            time.sleep(0.1)
        tab = Tab(ready.read_text().split()[0])
        tab.visit(page.address)
        tab.until("location.pathname.endsWith('/today')", "the token opens the page")
        for name in PAGES:
            times = []
            for _ in range(7):
                tab.visit(page.base + name)
                tab.until("performance.getEntriesByName('first-contentful-paint').length", "the page is painted")
                times.append(tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            spread(f"first paint of {name}", times)
    finally:
        os.killpg(browser.pid, signal.SIGTERM)
        browser.wait(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


def starts(program, environment):
    times = []
    for _ in range(100):
        began = time.monotonic()
        subprocess.run([program, "--version"], env=environment, stdout=subprocess.DEVNULL, check=True)
        times.append((time.monotonic() - began) * 1000)
    spread("rekindle --version", times, f", program of {os.path.getsize(program) / 1e6:.1f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--chromium")
    parser.add_argument("--home")
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    own = None if options.home else tempfile.mkdtemp(prefix="rekindle-bench-home-")
    home = pathlib.Path(options.home or own).resolve()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "REKINDLE_HOME": str(home), "TZ": "UTC", "REKINDLE_INDEX_BACKGROUND": "false",
                   "REKINDLE_CAPTURE_BACKGROUND": "false"}
    try:
        if own:
            write_store(options.program, environment, home, options.memories)
        page = Page(options.program, environment)
        try:
            for name in PAGES:
                page.measure(f"first visit of {name}", [name])
            # Notes that were written this moment are read each time.
            time.sleep(3.5)
            for name in PAGES:
                page.get(name)
                page.measure(f"page {name}", [name] * 10)
            asked = [urllib.parse.quote(one) for one in questions(options.rounds)]
            bodies = page.measure("search while typing", [f"search?live=1&q={one}" for one in asked])
            print(f"{sum(ROW in body for body in bodies)} of {len(bodies)} searches had hits")
            page.measure("search, submitted", [f"search?q={one}" for one in asked[:50]])
            assets = {name: len(page.get(name)[1]) for name in ("style.css", "page.js", "icon.svg")}
            print(f"assets: {assets}, {sum(assets.values()) / 1000:.1f} kB together; most memory {page.memory()} MB")
            if options.chromium:
                paint(page, options.chromium)
        finally:
            page.end()
        starts(options.program, environment)
    finally:
        if own:
            shutil.rmtree(own, ignore_errors=True)


if __name__ == "__main__":
    main()
