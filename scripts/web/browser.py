#!/usr/bin/env python3
"""The checks of scripts/web-browser.sh. Usage: browser.py PROGRAM CHROMIUM [--axe FILE] [--shots DIR] [--docs DIR]"""
import argparse
import http.client
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

import home as scratch
import note_picture
from chromium import OPTIONS, Tab

SESSION = "00000003-0000-4000-8000-000000000000"
PAGES = ["today", "search", "search?q=which+port+does+staging+use&anyway=1", "memory?id=staging-port", "memory?id=m-444444444444",
         "memory?id=invoice-rounding", "edit?id=editor", "forget?id=editor", "review", "sessions", f"session?id={SESSION}", "runs", "insight",
         "settings", "setting?name=recall.k", "memory?id=nothing"]
VIEWS = {"light": (1280, 900, "light"), "dark": (1280, 900, "dark"), "phone": (390, 844, "light"), "phone-dark": (390, 844, "dark")}
# The pictures in the documentation: page, view, height.
PICTURES = {"today": ("today", 820), "search": ("search?q=which+port+does+staging+use&anyway=1", 900),
            "memory": ("memory?id=invoice-rounding", 980), "review": ("review", 900)}

# What axe-core does not check. Returns a list of sentences.
AUDIT = r"""(() => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`wider than the window: ${document.documentElement.scrollWidth}`);
  for (const part of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary")) {
    const box = part.getBoundingClientRect();
    if (innerWidth < 500 && part.matches("button, select, input[type=text], input[type=search]") && part.checkVisibility()
        && !part.closest(".unseen") && box.height > 0 && box.height < 24)
      wrong.push(`too small to touch (${box.height}): ${part.outerHTML.slice(0, 90)}`);
  }
  for (const part of document.querySelectorAll("svg[role=img]"))
    if (!part.querySelector("title")) wrong.push("a plot has no words");
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not exactly one h1");
  return [...new Set(wrong)];
})()"""

AXE = """axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
  .then((found) => found.violations.map((one) => `${one.id}: ${one.help}: ` + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)
    + " " + (node.any[0]?.message ?? "")).join(" | ")))"""


def check(tab, base, options):
    wrong, axe = 0, None
    if options.axe:
        axe = pathlib.Path(options.axe).read_text()
    for page in PAGES:
        for view, (width, height, scheme) in VIEWS.items():
            tab.view(width, height, scheme)
            tab.visit(base + page)
            # A page that is not there is an error for the browser's log.
            found = tab.evaluate(AUDIT) + [text for text in tab.problems if "nothing" not in page]
            tab.problems = []
            # The last details are checked open too: what is folded away has to be readable.
            tab.evaluate("document.querySelectorAll('details').forEach((part) => part.setAttribute('open', ''))")
            if axe:
                tab.evaluate(axe)
                found += tab.evaluate(AXE, wait=True)
            found += tab.evaluate(AUDIT)
            wrong += len(found)
            for sentence in sorted(set(found)):
                print(f"FAILED   {page} ({view}): {sentence}")
            if options.shots:
                tab.visit(base + page)
                name = page.replace("?", "-").replace("=", "-").split("&")[0][:40].replace("+", "_")
                size = min(max(tab.height(), 600), 3000)
                (pathlib.Path(options.shots) / f"{name}-{view}.png").write_bytes(tab.picture(width, size))
    what = "with axe-core" if axe else "without axe-core"
    print(f"{'FAILED' if wrong else 'PASSED'}   {len(PAGES)} pages in {len(VIEWS)} views, {what}")
    return wrong


def keyboard(tab, base):
    """Everything by keys alone: no mouse, and nothing focused by the test."""
    tab.view(*VIEWS["light"])
    tab.visit(base + "today")
    tab.press("Tab")
    tab.until("document.activeElement.matches('.skip')", "the first Tab leads to the content")
    tab.press("Enter")
    tab.until("location.hash === '#main'", "Enter skips to the content")
    # Each thing that Tab reaches shows where it is.
    for _ in range(25):
        tab.press("Tab")
        seen = tab.evaluate("(() => { const at = document.activeElement; if (at === document.body) return 'body';"
                            " const style = getComputedStyle(at); return style.outlineStyle === 'none' && at.id !== 'main'"
                            " ? at.outerHTML.slice(0, 90) : ''; })()")
        if seen == "body":
            break
        if seen:
            raise SystemExit(f"FAILED   no visible focus: {seen}")
    tab.press("/")
    tab.until("location.pathname.endsWith('/search') && document.readyState === 'complete'", "the key / opens the search")
    tab.until("document.activeElement.matches('input[type=search]')", "the field is ready for typing")
    for letter in "staging":
        tab.press(letter)
    tab.until("document.getElementById('results').innerText.includes('5433')", "typing searches")
    tab.until("location.search.includes('q=staging')", "the address follows")
    tab.press("Escape")
    tab.press("i")
    tab.until("location.pathname.endsWith('/insight') && document.readyState === 'complete'", "the key i opens Insight")
    tab.press("r")
    tab.until("location.pathname.endsWith('/review') && document.readyState === 'complete'", "the key r opens the review")
    tab.press("j")
    first = tab.evaluate("document.activeElement.closest('[data-card]')?.id")
    tab.press("j")
    second = tab.evaluate("document.activeElement.closest('[data-card]')?.id")
    tab.press("k")
    if not first or first == second or tab.evaluate("document.activeElement.closest('[data-card]')?.id") != first:
        raise SystemExit(f"FAILED   j and k move between cards: {first} {second}")
    tab.press("x")
    tab.until("document.getElementById('bulk').innerText.includes('1 selected')", "the key x selects")
    tab.press("x")
    tab.press("r")
    tab.until(f"document.querySelector('.notice')?.innerText.includes('{first}') || !document.getElementById('{first}')", "the key r rejects")
    tab.until(f"document.readyState === 'complete' && !document.querySelector('[data-card]#{first}')", "the card is gone")
    tab.press("j")
    tab.press("a")
    tab.until(f"document.readyState === 'complete' && !document.querySelector('[data-card]#{second}')", "the key a approves")
    tab.visit(base + "memory?id=editor")
    reach(tab, "a[href^=\"forget\"]")
    tab.press("Enter")
    tab.until("location.pathname.endsWith('/forget') && document.readyState === 'complete'", "a link opens with Enter")
    reach(tab, "button.danger")
    tab.press("Enter")
    tab.until("document.body.innerText.includes('Forgotten.')", "a memory is forgotten with Enter")
    tab.visit(base + "setting?name=recall.k")
    reach(tab, "#value")
    tab.call("Input.dispatchKeyEvent", type="keyDown", key="a", code="KeyA", windowsVirtualKeyCode=65, modifiers=2)
    tab.press("4")
    tab.press("Enter")
    tab.until("document.body.innerText.includes('Saved recall.k')", "a setting is changed by keys")
    if tab.problems:
        raise SystemExit(f"FAILED   {tab.problems}")
    print("PASSED   search, pages, the review, a setting and forgetting by keyboard alone")


def reach(tab, selector):
    for _ in range(60):
        if tab.evaluate(f"document.activeElement.matches('{selector}')"):
            return
        tab.press("Tab")
    raise SystemExit(f"FAILED   Tab does not reach {selector}")


def together(tab, base, program, home):
    """A decision in the terminal, in REVIEW.md and on the page is seen by the others within a second or so."""
    review = pathlib.Path(home) / ".rekindle/vault/MemoryVault/REVIEW.md"
    tab.visit(base + "review")
    cards = tab.evaluate("[...document.querySelectorAll('[data-card]')].map((card) => card.id)")
    if len(cards) < 2:
        raise SystemExit(f"FAILED   too few proposals are left to decide on: {cards}")
    seen = []
    for act in (lambda: scratch.run(program, home, "reject", cards[0]), lambda: tick(review, cards[1])):
        act()
        began = time.monotonic()
        tab.until(f"!document.querySelector('[data-card]#{cards[len(seen)]}')", "the open page shows the decision")
        seen.append(time.monotonic() - began)
    print(f"PASSED   an open page shows a decision of the terminal after {seen[0]:.1f} s and of REVIEW.md after {seen[1]:.1f} s")


def tick(review, proposal):
    text = review.read_text()
    ticked = text.replace(f"- [ ] `{proposal}`", f"- [x] `{proposal}`")
    if ticked == text:
        raise SystemExit(f"FAILED   {proposal} is not on REVIEW.md")
    review.write_text(ticked)


def attacks(tab, base):
    """What other sites try, in a real browser and by hand."""
    parts = urllib.parse.urlsplit(base)
    path = parts.path

    def ask(method, target, **headers):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
        connection.putrequest(method, target, skip_host=True)
        for name, value in headers.items():
            connection.putheader(name.replace("_", "-"), value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")

    cookie = next(one for one in tab.call("Network.getAllCookies")["cookies"] if one["name"] == "rekindle")
    if not (cookie["httpOnly"] and cookie["sameSite"] == "Strict" and cookie["path"] == path):
        raise SystemExit(f"FAILED   the cookie: {cookie}")
    own = f"rekindle={cookie['value']}"
    for name, (status, body), wanted in [
        ("no token", ask("GET", path + "today", Host=parts.netloc), 401),
        ("a wrong token", ask("GET", path + "?token=0", Host=parts.netloc), 401),
        ("DNS rebinding", ask("GET", path + "today", Host="evil.example", Cookie=own), 421),
        ("another name of this machine", ask("GET", path + "today", Host=f"localhost:{parts.port}", Cookie=own), 421),
        ("a post of another site", ask("POST", path + "decide", Host=parts.netloc, Cookie=own, Origin="http://evil.example", Content_Length="0"), 403),
        ("a post without an origin", ask("POST", path + "decide", Host=parts.netloc, Cookie=own, Content_Length="0"), 403),
    ]:
        if status != wanted or "Postgres" in body:
            raise SystemExit(f"FAILED   {name}: {status}")
    # Another site in the same browser: a form, a script, an image, a frame and a fetch. `localhost` is another site.
    evil = f"http://localhost:{parts.port}/"
    tab.call("Page.navigate", url="data:text/html,<h1>evil</h1>")
    tab.until("document.readyState === 'complete'", "another site")
    result = tab.evaluate(f"""(async () => {{
      const tried = [];
      for (const mode of ["cors", "no-cors"]) {{
        try {{ const got = await fetch("{base}today", {{mode, credentials: "include"}}); tried.push(got.type + (await got.text()).length); }}
        catch {{ tried.push("refused"); }}
      }}
      const loads = (part, name) => new Promise((done) => {{
        part.onload = () => done("loaded"); part.onerror = () => done("refused"); part[name] = "{base}icon.svg?x"; document.body.append(part); }});
      tried.push(await loads(new Image(), "src"));
      return tried;
    }})()""", wait=True)
    if result[0] != "refused" or result[1] not in ("refused", "opaque0") or result[2] != "refused":
        raise SystemExit(f"FAILED   another site reads the page: {result}")
    tab.evaluate(f"""(() => {{ const form = document.createElement("form"); form.method = "post"; form.action = "{base}decide";
      form.innerHTML = '<input name=id value=p-1><input name=verdict value=approve>'; document.body.append(form); form.submit(); }})()""")
    tab.until("document.body && document.body.innerText.length > 0 && location.href.includes('decide')", "the other site posts")
    if "nothing was done" not in tab.evaluate("document.body.innerText") and "locked" not in tab.evaluate("document.body.innerText"):
        raise SystemExit(f"FAILED   a form of another site: {tab.evaluate('document.body.innerText')}")
    tab.call("Page.navigate", url=evil)
    tab.until("document.readyState === 'complete'", "the page by another name")
    tab.visit(base + "memory?id=editor")
    if tab.evaluate("document.querySelectorAll('main script, main b').length") or "<script>alert(1)</script>" not in tab.evaluate("document.body.innerText"):
        raise SystemExit("FAILED   markup of a memory is not text")
    tab.evaluate("(() => { const part = document.createElement('script'); part.textContent = 'window.ran = 1'; document.body.append(part); })()")
    if tab.evaluate("window.ran"):
        raise SystemExit("FAILED   the content policy lets an inline script run")
    tab.problems = []
    print("PASSED   rebinding, posts and reads of other sites, missing tokens, markup and inline scripts get nothing")


def without_script(tab, base):
    """Reading needs no JavaScript."""
    tab.call("Emulation.setScriptExecutionDisabled", value=True)
    for page in PAGES[:-1]:
        tab.visit(base + page)
        if not tab.evaluate("document.querySelectorAll('h1').length === 1 && !window.ran"):
            raise SystemExit(f"FAILED   {page} without JavaScript")
    tab.call("Emulation.setScriptExecutionDisabled", value=False)
    tab.visit(base + "search?q=staging&anyway=1")
    print("PASSED   every page loads without JavaScript")


def pictures(tab, base, folder, program, home):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    total = 0
    for name, (page, height) in PICTURES.items():
        for view, width in (("light", 1180), ("dark", 1180)):
            if view == "dark" and name != "today":
                continue
            tab.view(width, height, view)
            tab.visit(base + page)
            tab.evaluate("document.querySelectorAll('.hits details').forEach((part, at) => part.toggleAttribute('open', at === 0))")
            file = folder / f"web-{name}{'-dark' if view == 'dark' else ''}.webp"
            file.write_bytes(tab.picture(width, height, "webp", 0.75, quality=60))
            total += file.stat().st_size
    tab.view(390, 844, "light")
    tab.visit(base + "review")
    file = folder / "web-phone.webp"
    file.write_bytes(tab.picture(390, 844, "webp", 0.75, quality=60))
    total += file.stat().st_size
    scratch.run(program, home, "obsidian")
    for name, note in (("home", "Rekindle.md"), ("project", "_projects/Rekindle payments.md")):
        shown = folder / f"{name}.html"
        shown.write_text(note_picture.render((pathlib.Path(home) / ".rekindle/vault/MemoryVault" / note).read_text()))
        tab.view(860, 760, "light")
        tab.visit(shown.resolve().as_uri())
        file = folder / f"obsidian-{name}.webp"
        file.write_bytes(tab.picture(860, min(tab.height(), 900), "webp", 0.75, quality=60))
        shown.unlink()
        total += file.stat().st_size
    print(f"PASSED   pictures for the documentation, {total // 1000} kB together")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("chromium")
    parser.add_argument("--axe")
    parser.add_argument("--shots")
    parser.add_argument("--docs")
    parser.add_argument("--quick", action="store_true", help="only keys, decisions and attacks")
    options = parser.parse_args()
    if options.shots:
        os.makedirs(options.shots, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="rekindle-web-")
    started = []
    try:
        home = folder + "/home"
        os.makedirs(home)
        scratch.fill(options.program, home, pathlib.Path)
        address_file = folder + "/address"
        page = subprocess.Popen(["script", "-qfec", f"'{options.program}' web --no-open", address_file], env=scratch.environment(home),
                                cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        started.append(page)
        browser = subprocess.Popen([options.chromium, *OPTIONS, f"--user-data-dir={folder}/profile", "about:blank"],
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        started.append(browser)
        address = port = None
        for _ in range(600):
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
        if options.docs:
            pictures(tab, base, options.docs, options.program, home)
            return
        wrong = 0 if options.quick else check(tab, base, options)
        without_script(tab, base)
        attacks(tab, base)
        keyboard(tab, base)
        together(tab, base, options.program, home)
        sys.exit(1 if wrong else 0)
    finally:
        for process in started:
            os.killpg(process.pid, signal.SIGTERM)
        for process in started:
            process.wait(timeout=20)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
