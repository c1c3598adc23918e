"""Drives the real program through its hooks with a shifted clock. Used by fortnight.py, sessions.py and month.py.

Needs `faketime` (Debian package). The worker runs after each session instead of in the background, because a detached
worker would not see the shifted clock; every other setting has its default.
"""
import datetime
import json
import os
import re
import shutil
import subprocess
import tempfile
import uuid
import zoneinfo

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


def find_faketime():
    for folder in ("/usr/lib/x86_64-linux-gnu/faketime", "/usr/lib/aarch64-linux-gnu/faketime", "/usr/lib/faketime"):
        path = os.path.join(folder, "libfaketime.so.1")
        if os.path.exists(path):
            return path
    raise SystemExit("faketime is needed: apt-get install faketime")


class Machine:
    """An isolated home with git repositories and a controlled clock."""

    def __init__(self, program, keep=False, zone="Europe/Berlin"):
        self.program = os.path.abspath(program)
        self.root = tempfile.mkdtemp(prefix="rekindle-eval-")
        self.home = os.path.join(self.root, "home")
        self.keep = keep
        self.zone = zone
        self.preload = find_faketime()
        os.makedirs(self.home)

    def close(self):
        if not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)

    def environment(self, at):
        return {
            "HOME": self.home,
            "PATH": os.environ["PATH"],
            "TZ": self.zone,
            "LD_PRELOAD": self.preload,
            "FAKETIME": "@" + at.astimezone(zoneinfo.ZoneInfo(self.zone)).strftime("%Y-%m-%d %H:%M:%S"),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "NO_FAKE_STAT": "1",
        }

    def run(self, at, *arguments, stdin=None, cwd=None):
        done = subprocess.run(
            [self.program, *arguments], input=stdin, capture_output=True, text=True, env=self.environment(at),
            cwd=cwd or self.home, timeout=600,
        )
        if done.returncode != 0:
            raise RuntimeError(f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout

    def repository(self, name, remote):
        folder = os.path.join(self.home, "work", name)
        os.makedirs(folder)
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "check": True}
        subprocess.run(["git", "init", "-q", folder], **quiet)
        if remote:
            subprocess.run(["git", "-C", folder, "remote", "add", "origin", remote], **quiet)
        return folder

    def start(self, at):
        self.run(at, "init", "--name", "Ada")
        self.run(at, "config", "set", "capture.background", "false")

    def hook(self, at, event, session, cwd, transcript, **fields):
        data = {"session_id": session, "transcript_path": transcript, "cwd": cwd, "hook_event_name": event, **fields}
        out = self.run(at, "hook", "claude", event, stdin=json.dumps(data), cwd=cwd)
        if not out.strip():
            return "", ""
        answer = json.loads(out)
        context = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
        return context, answer.get("systemMessage", "")

    def work(self, at):
        return self.run(at, "worker")


class Transcript:
    """A session in Claude Code's format."""

    def __init__(self, path, session, cwd):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.path, self.session, self.cwd = path, session, cwd
        self.parent = None
        self.calls = 0

    def _write(self, entry):
        with open(self.path, "a", encoding="utf-8") as out:
            out.write(json.dumps(entry, ensure_ascii=False) + "\n")

    def _entry(self, kind, at, message, **more):
        identity = str(uuid.uuid4())
        entry = {
            "parentUuid": self.parent, "isSidechain": False, "userType": "external", "cwd": self.cwd,
            "sessionId": self.session, "version": "2.1.325", "gitBranch": "main", "entrypoint": "cli", "type": kind,
            "message": message, "uuid": identity, "timestamp": stamp(at), **more,
        }
        self.parent = identity
        self._write(entry)

    def user(self, at, text):
        self._entry("user", at, {"role": "user", "content": text})

    def agent(self, at, text):
        content = [{"type": "text", "text": text}]
        self._entry("assistant", at, {"role": "assistant", "model": "claude-opus-5-5", "id": "msg_" + uuid.uuid4().hex[:12],
                                      "type": "message", "content": content})

    def call(self, at, tool, arguments):
        self.calls += 1
        identity = f"toolu_{self.calls:04d}{uuid.uuid4().hex[:8]}"
        content = [{"type": "tool_use", "id": identity, "name": tool, "input": arguments}]
        self._entry("assistant", at, {"role": "assistant", "model": "claude-opus-5-5", "id": "msg_" + uuid.uuid4().hex[:12],
                                      "type": "message", "content": content})
        return identity

    def result(self, at, identity, text, failed=False, data=None):
        block = {"type": "tool_result", "tool_use_id": identity, "content": text}
        if failed:
            block["is_error"] = True
        self._entry("user", at, {"role": "user", "content": [block]}, toolUseResult=data or text)

    def queued(self, at, text):
        self._write({"type": "queue-operation", "operation": "enqueue", "timestamp": stamp(at), "sessionId": self.session,
                     "content": text})
        self._write({"type": "queue-operation", "operation": "remove", "timestamp": stamp(at), "sessionId": self.session})

    def interrupted(self, at, for_tool):
        words = "[Request interrupted by user for tool use]" if for_tool else "[Request interrupted by user]"
        self._entry("user", at, {"role": "user", "content": [{"type": "text", "text": words}]})


def stamp(at):
    return at.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


REFUSED = ("The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
           "new_string was NOT written to the file). To tell you how to proceed, the user said:\n")

FRAME = re.compile(r"^\s*(</?rekindle[^>]*>|#+ .*|\*\*.*\*\*:?|)\s*$")


def lines_of(context):
    """Returns the lines with content: list items, without frames and headings."""
    found = []
    for line in context.splitlines():
        text = line.strip()
        if FRAME.match(line) or not text.startswith(("- ", "* ")):
            continue
        found.append(text)
    return found


def tokens(text):
    return (len(text) + 3) // 4


def matches(line, keys):
    line = line.lower()
    return bool(keys) and all(any(word in line for word in group) for group in keys)
