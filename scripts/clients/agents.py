"""Sets up the real agents with the stub model, and drives a session with each of them."""

import fcntl
import json
import os
import pty
import queue
import signal
import struct
import subprocess
import termios
import threading
import time
import uuid
from pathlib import Path

PATIENCE = int(os.environ.get("REKINDLE_E2E_PATIENCE", "90"))  # seconds per answer; the first start of an agent is slow on a small machine


class Process:
    """An agent that speaks JSON lines. It leads its own process group, so that no child process survives it."""

    def __init__(self, args, box, **more):
        self.log = open(box.logs / f"{Path(args[0]).name}-{uuid.uuid4().hex[:6]}.log", "w")
        self.child = subprocess.Popen(args, cwd=box.project, env={**box.env, **more}, stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=self.log, text=True, start_new_session=True)
        self.lines, self.asked = queue.Queue(), 0
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.child.stdout:
            self.log.write(line)
            try:
                self.lines.put(json.loads(line))
            except ValueError:
                pass
        self.lines.put(None)

    def say(self, message):
        self.child.stdin.write(json.dumps(message) + "\n")
        self.child.stdin.flush()

    def wait_for(self, wanted):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                line = self.lines.get(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                raise RuntimeError(f"no answer within {PATIENCE} s; see {self.log.name}") from None
            if line is None:
                raise RuntimeError(f"the agent ended too early; see {self.log.name}")
            if wanted(line):
                return line

    def ask(self, method, params):
        """Sends a JSON-RPC request, as Codex and Gemini CLI expect it."""
        self.asked += 1
        self.say({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params})
        return self.asked

    def answer(self, number):
        answer = self.wait_for(lambda line: line.get("id") == number and "method" not in line)
        if "error" in answer:
            raise RuntimeError(f"the agent answered {answer['error']}")
        return answer["result"]

    def call(self, method, params):
        return self.answer(self.ask(method, params))

    def end(self):
        """Closes the input and waits for the agent to exit."""
        self.child.stdin.close()
        try:
            self.child.wait(timeout=PATIENCE)
        finally:
            self.clean()

    def kill(self):
        """Kills the agent with SIGKILL."""
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.clean()

    def clean(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.reader.join(timeout=5)
        self.log.close()


class Terminal:
    """An agent at a terminal with a simulated user. Its hooks report its progress; the screen is read only for questions
    to the user."""

    def __init__(self, args, box, answered):
        self.box, self.answered, self.drawn = box, answered, b""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.child = subprocess.Popen(args, cwd=box.project, env={**box.env, "TERM": "xterm-256color"}, stdin=slave,
                                      stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)
        self.log = open(box.logs / f"{Path(args[0]).name}-{uuid.uuid4().hex[:6]}.log", "wb")
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        try:
            while data := os.read(self.master, 65536):
                self.log.write(data)
                self.drawn = (self.drawn + data)[-50_000:]
        except OSError:
            pass

    def count(self, event):
        return sum(line["hook"].split()[-1] == event for line in self.box.hooks())

    def wait_until(self, condition, what):
        deadline = time.monotonic() + PATIENCE
        while not condition():
            if self.child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{what} did not happen; see {self.log.name}")
            time.sleep(0.1)

    def type(self, text):
        # Gemini CLI drops a question mark at the start of its input, because it opens the help.
        for part in (text[:1], text[1:]):
            os.write(self.master, part.encode())
            time.sleep(0.1)
        # Typed and sent at once, it would count as pasted.
        time.sleep(0.7)
        os.write(self.master, b"\r")

    def prompt(self, text):
        before = self.count(self.answered)
        self.type(text)
        self.wait_until(lambda: self.count(self.answered) > before, "an answer")

    def allow(self, text):
        """The same, and approves each permission request once."""
        before, self.drawn = self.count(self.answered), b""
        self.type(text)
        self.wait_until(lambda: b"Action Required" in self.drawn, "a question")
        time.sleep(1)
        os.write(self.master, b"\r")
        self.wait_until(lambda: self.count(self.answered) > before, "an answer")

    def end(self):
        self.type("/quit")
        try:
            self.child.wait(timeout=PATIENCE)
        finally:
            self.clean()

    def kill(self):
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
        self.clean()

    def clean(self):
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.reader.join(timeout=5)
        os.close(self.master)
        self.log.close()


def run(args, box, **more):
    """An agent that answers one prompt and exits."""
    log = box.logs / f"{Path(args[0]).name}-{uuid.uuid4().hex[:6]}.log"
    with open(log, "w") as out:
        child = subprocess.Popen(args, cwd=box.project, env={**box.env, **more}, stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code = child.wait(timeout=PATIENCE)
        finally:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
    if code != 0:
        raise RuntimeError(f"{' '.join(args[:3])} … ended with {code}; see {log}")
    return log.read_text()


class Claude:
    word = "claude"
    package = "@anthropic-ai/claude-code@2.1.325"
    files = [".claude/settings.json"]
    hooks = {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}
    compaction = {"PreCompact", "PostCompact"}

    def set_up(self, box, url):
        box.env.update(ANTHROPIC_BASE_URL=url, ANTHROPIC_API_KEY="stub", DISABLE_TELEMETRY="1", DISABLE_AUTOUPDATER="1",
                       DISABLE_ERROR_REPORTING="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1")
        # Settings of the user, which must survive.
        box.write(".claude/settings.json", '{\n  "model": "sonnet",\n  "permissions": {"allow": ["Bash(ls:*)", "mcp__memory"]}\n}\n')

    def open(self, box):
        """Opens a session that stays open until it is ended or killed."""
        process = Process([box.program("claude"), "-p", "--input-format", "stream-json", "--output-format", "stream-json",
                           "--verbose"], box)
        return process

    def start(self, process, text):
        process.say({"type": "user", "message": {"role": "user", "content": text}})

    def prompt(self, process, text):
        self.start(process, text)
        process.wait_for(lambda line: line.get("type") == "result")

    def compact(self, process):
        self.prompt(process, "/compact")

    def resumed(self, box, prompts):
        """Resumes the same session with one process per prompt."""
        session = str(uuid.uuid4())
        for at, text in enumerate(prompts):
            which = ["--session-id", session] if at == 0 else ["--resume", session]
            run([box.program("claude"), "-p", *which, text], box)

    def plug(self, box, folder):
        """Adds a plugin as its documentation describes."""
        run([box.program("claude"), "plugin", "marketplace", "add", str(folder)], box)
        run([box.program("claude"), "plugin", "install", "rekindle@rekindle"], box)

    def unplug(self, box, folder):
        run([box.program("claude"), "plugin", "uninstall", "rekindle@rekindle"], box)
        run([box.program("claude"), "plugin", "marketplace", "remove", "rekindle"], box)


class Codex:
    word = "codex"
    package = "@openai/codex@0.166.0"
    files = [".codex/config.toml", ".codex/hooks.json"]
    hooks = {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}
    compaction = {"PreCompact", "PostCompact"}

    def set_up(self, box, url):
        box.env["STUB_KEY"] = "stub"
        box.write(".codex/config.toml", f"""# mine
model = "stub-model"
model_provider = "stub"
check_for_update_on_startup = false

[model_providers.stub]
name = "stub"
base_url = "{url}/v1"
env_key = "STUB_KEY"
wire_api = "responses"

[analytics]
enabled = false
""")

    def open(self, box):
        process = Process([box.program("codex"), "app-server"], box)
        process.call("initialize", {"clientInfo": {"name": "e2e", "version": "1"}})
        process.say({"jsonrpc": "2.0", "method": "initialized"})
        started = process.call("thread/start", {"cwd": str(box.project), "approvalPolicy": "never"})
        self.thread = started["thread"]["id"]
        return process

    def start(self, process, text):
        process.call("turn/start", {"threadId": self.thread, "input": [{"type": "text", "text": text}]})

    def prompt(self, process, text):
        self.start(process, text)
        process.wait_for(lambda line: line.get("method") == "turn/completed")

    def compact(self, process):
        process.call("thread/compact/start", {"threadId": self.thread})
        process.wait_for(lambda line: line.get("method") == "turn/completed")

    def resumed(self, box, prompts):
        common = ["--json", "--skip-git-repo-check"]
        for at, text in enumerate(prompts):
            if at == 0:
                output = run([box.program("codex"), "exec", *common, text], box)
                lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
                thread = next(line["thread_id"] for line in lines if line.get("type") == "thread.started")
            else:
                run([box.program("codex"), "exec", "resume", *common, thread, text], box)

    def plug(self, box, folder):
        run([box.program("codex"), "plugin", "marketplace", "add", str(folder)], box)
        run([box.program("codex"), "plugin", "add", "rekindle@rekindle"], box)
        process = Process([box.program("codex"), "app-server"], box)
        process.call("initialize", {"clientInfo": {"name": "e2e", "version": "1"}})
        process.say({"jsonrpc": "2.0", "method": "initialized"})
        hooks = process.call("hooks/list", {"cwds": [str(box.project)]})["data"][0]["hooks"]
        process.kill()
        # The same as answering yes in /hooks.
        trusted = []
        for hook in (hook for hook in hooks if hook.get("pluginId") == "rekindle@rekindle"):
            command, _, content = hook["currentHash"].partition("/")
            trusted.append(f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{command}"\n'
                           f'trusted_content_hash = "{content}"\n')
        config = box.home / ".codex/config.toml"
        config.write_text(config.read_text() + "\n" + "\n".join(trusted))

    def unplug(self, box, folder):
        run([box.program("codex"), "plugin", "remove", "rekindle@rekindle"], box)
        run([box.program("codex"), "plugin", "marketplace", "remove", "rekindle"], box)
        config = box.home / ".codex/config.toml"
        config.write_text(config.read_text().split('[hooks.state."rekindle@rekindle')[0])


class Gemini:
    word = "gemini"
    package = "@google/gemini-cli@0.61.0"
    files = [".gemini/settings.json"]
    hooks = {"SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd"}
    compaction = set()

    def set_up(self, box, url):
        box.env.update(GOOGLE_GEMINI_BASE_URL=url, GEMINI_API_KEY="stub", GEMINI_CLI_TRUST_WORKSPACE="true")
        box.write(".gemini/settings.json", """{
  // mine
  "security": {"auth": {"selectedType": "gemini-api-key"}}, /* no login */
  "general": {"disableAutoUpdate": true, "enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false}
}
""")

    def open(self, box):
        before = sum(line["hook"].endswith("SessionStart") for line in box.hooks())
        terminal = Terminal([box.program("gemini")], box, "AfterAgent")
        terminal.wait_until(lambda: terminal.count("SessionStart") > before, "the start")
        time.sleep(3)
        return terminal

    def start(self, terminal, text):
        terminal.type(text)

    def prompt(self, terminal, text):
        terminal.prompt(text)

    def compact(self, terminal):
        terminal.type("/compress")
        time.sleep(4)

    def resumed(self, box, prompts):
        for at, text in enumerate(prompts):
            which = [] if at == 0 else ["--resume", "latest"]
            run([box.program("gemini"), *which, "-p", text], box)

    def plug(self, box, folder):
        run([box.program("gemini"), "extensions", "link", str(folder / "gemini"), "--consent"], box)

    def unplug(self, box, folder):
        run([box.program("gemini"), "extensions", "uninstall", "rekindle"], box)


class Pi:
    word = "pi"
    package = "@earendil-works/pi-coding-agent@0.87.1"
    files = [".pi/agent/extensions/rekindle.ts"]
    hooks = {"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"}
    compaction = {"PreCompact", "PostCompact"}
    # pi has no MCP support; this package adds it.
    adapter = "pi-mcp-adapter@2.36.0"

    def adapt(self, box):
        place = box.programs.install(self.adapter).parent / "pi-mcp-adapter"
        box.write(".pi/agent/settings.json", json.dumps({"packages": [str(place)]}))

    def set_up(self, box, url):
        box.env.update(PI_SKIP_VERSION_CHECK="1", PI_OFFLINE="1", STUB_KEY="stub")
        model = {"id": "stub-model", "name": "stub", "reasoning": False, "input": ["text"], "contextWindow": 100000,
                 "maxTokens": 1000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "STUB_KEY", "models": [model]}
        box.write(".pi/agent/models.json", json.dumps({"providers": {"stub": provider}}))
        # Otherwise it would find nothing to compact in such short sessions.
        box.write(".pi/agent/settings.json", json.dumps({"compaction": {"keepRecentTokens": 1}}))
        self.model = ["--provider", "stub", "--model", "stub-model"]

    def open(self, box, *more):
        return Process([box.program("pi"), "--mode", "rpc", *self.model, *more], box)

    def start(self, process, text):
        process.say({"type": "prompt", "message": text})

    def prompt(self, process, text):
        self.start(process, text)
        process.wait_for(lambda line: line.get("type") == "agent_settled")

    def compact(self, process):
        process.say({"type": "compact"})
        process.wait_for(lambda line: line.get("type") == "response" and line.get("command") == "compact")

    def resumed(self, box, prompts):
        for at, text in enumerate(prompts):
            which = [] if at == 0 else ["--continue"]
            run([box.program("pi"), "-p", *self.model, *which, text], box)

    def plug(self, box, folder):
        run([box.program("pi"), "install", str(folder / "pi")], box)

    def unplug(self, box, folder):
        run([box.program("pi"), "remove", str(folder / "pi")], box)


ALL = [Claude(), Codex(), Gemini(), Pi()]
