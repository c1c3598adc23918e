#!/usr/bin/env python3
"""Generates Claude Code sessions for measuring `rekindle backfill` (DIS-01).

Usage: python3 scripts/make-sessions.py COUNT HOME [--megabytes 1.0] [--projects 6]

Writes COUNT transcripts below HOME/.claude/projects, one per day backwards from 2026-01-01, and creates their repositories
below HOME/work. A session of one megabyte resembles recorded ones of that size: about eight messages of the user,
thirty-five of the agent and sixty tool calls; the rest is tool output. The same arguments create the same files.
"""

import datetime
import json
import os
import pathlib
import random
import sys

TASKS = [
    "Please add a {thing} to the {place}.", "The {place} is broken since yesterday, can you look at the {thing}?",
    "Write a test for the {thing} in the {place}.", "Rename the {thing} of the {place} and update the callers.",
    "Why does the {place} reload the {thing} twice?", "Move the {thing} out of the {place}.",
]
STATEMENTS = [
    "Always use {tool} in this repository, never {other}.", "The staging {place} listens on port {number}.",
    "The {place} listens on port {number} now, not on {before}.", "We decided to keep the {thing} in {tool}.",
    "Never commit the {thing} without a test.", "The {thing} of the {place} lives in src/{place}/{thing}.rs.",
    "Tests of the {place} need {tool} running.", "I prefer short commit messages for the {place}.",
]
ANSWERS = [
    "I looked at the {thing} in the {place}.", "The cause is that the {thing} is loaded before {tool} is ready.",
    "I changed two files and the tests pass.", "The {place} reads the {thing} from {tool} now.",
    "Next I run the tests of the {place}.", "The {thing} was missing from the {place}, so I added it.",
]
WORDS = {
    "thing": "cache button header token index queue worker schema fixture banner cursor filter".split(),
    "place": "login billing search upload export gateway scheduler importer dashboard mailer".split(),
    "tool": "pnpm docker redis make postgres vitest poetry terraform".split(),
    "other": "npm podman memcached ninja mysql jest pip pulumi".split(),
}


def filled(rng, sentence):
    words = {key: rng.choice(values) for key, values in WORDS.items()}
    return sentence.format(**words, number=rng.randint(5000, 5999), before=rng.randint(4000, 4999))


def session(rng, name, cwd, day, size):
    lines, parent, clock = [], None, datetime.datetime.combine(day, datetime.time(9))

    def line(kind, content):
        nonlocal parent, clock
        clock += datetime.timedelta(seconds=20)
        uuid = f"{name}-{len(lines)}"
        lines.append(json.dumps({
            "type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": False, "sessionId": name, "cwd": cwd,
            "version": "2.1.325", "timestamp": clock.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
            "message": {"role": kind, "content": content},
        }))
        parent = uuid

    output = max(100, (size - 40_000) // 60)
    for turn in range(8):
        said = [filled(rng, rng.choice(TASKS))]
        if rng.random() < 0.4:
            said.append(filled(rng, rng.choice(STATEMENTS)))
        if rng.random() < 0.5:
            said.append(filled(rng, "Keep the {thing} as it is for now and only touch the {place}."))
        line("user", " ".join(said))
        for step in range(7):
            call = f"{name}-{turn}-{step}"
            tool = {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": filled(rng, "make test-{place}")}}
            text = {"type": "text", "text": " ".join(filled(rng, rng.choice(ANSWERS)) for _ in range(2))}
            line("assistant", [text, tool] if step % 2 else [tool])
            row = filled(rng, "test {place}::{thing} ... ok in 12 ms, port {number}\n")
            line("user", [{"type": "tool_result", "tool_use_id": call, "content": row * (output // len(row))}])
        line("assistant", [{"type": "text", "text": " ".join(filled(rng, rng.choice(ANSWERS)) for _ in range(4))}])
    return "\n".join(lines) + "\n", clock


def option(name, otherwise):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def main():
    count, home = int(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    size, projects = int(float(option("--megabytes", "1.0")) * 1e6), int(option("--projects", "6"))
    rng = random.Random(count)
    for number in range(projects):
        git = home / "work" / f"project-{number}" / ".git"
        git.mkdir(parents=True, exist_ok=True)
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        (git / "config").write_text(f'[remote "origin"]\n\turl = git@github.com:acme/project-{number}.git\n')
    folder = home / ".claude" / "projects" / "made"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        name = f"00000000-0000-4000-8000-{number:012d}"
        cwd = str(home / "work" / f"project-{number % projects}")
        text, ended = session(rng, name, cwd, datetime.date(2026, 1, 1) - datetime.timedelta(days=number), size)
        path = folder / f"{name}.jsonl"
        path.write_text(text)
        at = ended.replace(tzinfo=datetime.timezone.utc).timestamp()
        os.utime(path, (at, at))


main()
