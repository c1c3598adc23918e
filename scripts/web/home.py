"""Fills a scratch home with memories, sessions and proposals, through the program's own commands and hooks."""
import datetime
import json
import os
import subprocess

PROJECTS = {"payments": "git@github.com:acme/payments.git", "gateway": "git@github.com:acme/gateway.git"}
# What the person says in each session: the project, the days ago, and the turns with the agent's answers.
SESSIONS = [
    ("payments", 6, [
        ("Always use pnpm in this repository, never npm.", "Understood: pnpm from now on."),
        ("The staging database listens on port 5433, not 5432.", "I will connect to port 5433 on staging."),
        ("Please fix the flaky invoice test.", "The invoice test waited for a fixed time; it waits for the event now."),
    ]),
    ("payments", 5, [
        ("Which port does the staging database listen on?", "Staging listens on port 5433."),
        ("We decided to keep invoices in Postgres and not in the document store.", "Noted. I removed the adapter."),
        ("Use Postgres 16 for the invoice database.", "The compose file uses Postgres 16 now."),
    ]),
    ("gateway", 4, [
        ("The gateway must answer health checks under /healthz within one second.", "I added a handler for /healthz."),
        ("Never log request bodies in the gateway.", "I removed the body from the access log."),
        ("I prefer short commit messages in the imperative.", "I will write them that way."),
        ("I prefer tables to long prose in reports.", "The next report is a table."),
    ]),
    ("gateway", 3, [
        ("Rate limits of the gateway are kept in Redis.", "The limiter reads its counters from Redis."),
        ("I prefer one module for each kind of error.", "The errors are in modules of their own now."),
        ("I prefer names that say what a thing is.", "I renamed the helpers."),
        ("I like error messages that say what to do next.", "Each error has a hint now."),
        ("I prefer plain SQL to query builders.", "The queries are plain SQL."),
        ("How did we decide to log request bodies?", "Request bodies are never logged in the gateway."),
        ("No, the gateway answers health checks under /livez now.", "I moved the handler to /livez."),
    ]),
    ("payments", 1, [
        ("Use npm in this repository.", "I switched the scripts to npm."),
        ("Remember that refunds need the approval of two people.", "I will ask for two approvals."),
        ("I prefer to see the failing test before the fix.", "I will show the failing test first."),
        ("Run the migration tests before every release.", "The release script runs the migration tests first."),
    ]),
    ("payments", 0, [
        ("What do refunds need?", "Refunds need the approval of two people."),
        ("From now on, name branches by the number of their issue.", "The branch is called 112-refunds."),
    ]),
]
SAVED = [
    ("payments", "fix", "invoice-rounding", "Invoices round half to even, see [[staging-port]] for the test data.\n\nThe rule is in `billing/rounding.rs`; Postgres and the invoice service must agree on it."),
    ("payments", "howto", "staging-port", "Open a tunnel with `ssh -L 5433:db:5433 staging`, then connect to Postgres on port 5433."),
    ("gateway", "decision", "limits-in-redis", "The gateway keeps its rate limits in Redis, because several instances share them."),
    (None, "preference", "editor", "Four spaces, never tabs. Markup such as <b>bold</b> & <script>alert(1)</script> is text."),
    (None, "preference", "reviews", "Small pull requests: one change each, with the reason in the description."),
]
GUESS = """---
id: m-444444444444
kind: fact
status: active
created: 2026-11-15T10:00:00Z
updated: 2026-11-15T10:00:00Z
group: personal-private
scope: project
project: github.com/acme/payments
confidence_rating_at_capture: low
origin: agent
session: 00000002-0000-4000-8000-000000000000
messages: [00000002-1]
---

The nightly backup of the invoice database seems to run at two in the morning.
"""


def environment(home, **more):
    return {"PATH": os.environ["PATH"], "HOME": home, "REKINDLE_HOME": home + "/.rekindle", "TZ": "UTC", "LANG": "C.UTF-8",
            "REKINDLE_INDEX_BACKGROUND": "false", "REKINDLE_CAPTURE_BACKGROUND": "false", "REKINDLE_GATE_WEEKLY": "false", **more}


def run(program, home, *arguments, cwd=None):
    """Runs a command as a person at a terminal does."""
    line = " ".join([f"'{program}'", *("'" + argument.replace("'", "'\\''") + "'" for argument in arguments)])
    subprocess.run(["script", "-qec", line, "/dev/null"], env=environment(home), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, check=True, timeout=300, cwd=cwd or home)


def hook(program, home, event, fields, cwd):
    subprocess.run([program, "hook", "claude", event], input=json.dumps({"cwd": cwd, "hook_event_name": event, **fields}).encode(),
                   env=environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120, cwd=cwd)


def transcript(path, name, cwd, start, turns):
    """Writes a transcript turn by turn; yields after each, so that the hooks see it grow as an agent writes it."""
    clock, parent, lines = start, None, []

    def line(kind, content):
        nonlocal clock, parent
        clock += datetime.timedelta(seconds=25)
        own = f"{name[:8]}-{len(lines)}"
        lines.append(json.dumps({
            "type": kind, "uuid": own, "parentUuid": parent, "isSidechain": False, "sessionId": name, "cwd": cwd,
            "version": "2.1.325", "timestamp": clock.strftime("%Y-%m-%dT%H:%M:%S.000Z"), "message": {"role": kind, "content": content}}))
        parent = own
        path.write_text("\n".join(lines) + "\n")

    for said, answer in turns:
        line("user", said)
        yield said, None
        line("assistant", [{"type": "text", "text": answer}])
        yield None, answer


def fill(program, home, path_of):
    subprocess.run([program, "init", "--name", "Ada"], env=environment(home), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=120)
    folders = {}
    for name, url in PROJECTS.items():
        folder = path_of(home) / "work" / name
        (folder / ".git").mkdir(parents=True)
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = {url}\n')
        folders[name] = str(folder)
    (path_of(home) / ".claude").mkdir()
    run(program, home, "install", "claude", "--yes")
    for project, kind, slug, body in SAVED:
        more = [] if project else ["--global"]
        run(program, home, "save", kind, slug, "--body", body, *more, cwd=folders.get(project))
    transcripts = path_of(home) / ".claude" / "projects" / "made"
    transcripts.mkdir(parents=True)
    now = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
    for number, (project, days, turns) in enumerate(SESSIONS):
        name, cwd = f"{number:08d}-0000-4000-8000-000000000000", folders[project]
        path = transcripts / f"{name}.jsonl"
        fields = {"session_id": name, "transcript_path": str(path)}
        path.write_text("")
        hook(program, home, "SessionStart", {**fields, "source": "startup"}, cwd)
        for said, _ in transcript(path, name, cwd, now - datetime.timedelta(days=days, hours=2), turns):
            if said:
                hook(program, home, "UserPromptSubmit", {**fields, "prompt": said}, cwd)
            else:
                hook(program, home, "Stop", fields, cwd)
        hook(program, home, "SessionEnd", {**fields, "reason": "exit"}, cwd)
        run(program, home, "worker", "--once")
    # A guess from a single session, as the worker leaves it.
    inbox = path_of(home) / ".rekindle/vault/MemoryVault/personal-private/_inbox"
    (inbox / "nightly-backup.md").write_text(GUESS)
    run(program, home, "reindex")
    return folders
