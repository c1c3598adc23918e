#!/usr/bin/env python3
"""Measures what is learnt from real recorded sessions.

Usage: sessions.py PROGRAM LIST FOLDER [--show] [--keep]

FOLDER contains transcripts of Claude Code (`<session id>.jsonl`). LIST is a JSON file with, for each session, the facts that
a careful reader would keep (each with the keys of a matching line) and prompts that they answer weeks later. The transcripts
are not part of this repository. Every session runs through the real hooks with the clock at its own time; the prompts are
typed a month after the last session.
"""
import argparse
import collections
import datetime
import json
import os
import re
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import Machine, lines_of, matches, tokens


def times(path):
    found = []
    for line in open(path, encoding="utf-8", errors="replace"):
        match = re.search(r'"timestamp":"([0-9T:.\-]+Z)"', line)
        if match:
            found.append(datetime.datetime.fromisoformat(match.group(1).replace("Z", "+00:00")))
    return min(found), max(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("list")
    parser.add_argument("folder")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--keep", action="store_true")
    arguments = parser.parse_args()
    listed = json.load(open(arguments.list, encoding="utf-8"))["sessions"]
    machine = Machine(arguments.program, arguments.keep)
    cwd = machine.repository("cli", "git@git.example.com:acme/cli.git")
    timed = []
    for session in listed:
        path = os.path.join(arguments.folder, session["id"] + ".jsonl")
        timed.append((times(path), session, path))
    timed.sort(key=lambda row: row[0][1])
    machine.start(timed[0][0][0] - datetime.timedelta(hours=1))
    useful = 0
    for (begin, end), session, path in timed:
        text = open(path, encoding="utf-8", errors="replace").read()
        # The sessions ran in folders of other machines.
        text = re.sub(r'"cwd":"[^"]*"', f'"cwd":"{cwd}"', text)
        copy = os.path.join(machine.home, ".claude", "projects", "cli", session["id"] + ".jsonl")
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        open(copy, "w", encoding="utf-8").write(text)
        machine.hook(begin, "SessionStart", session["id"], cwd, copy, source="startup")
        machine.hook(end + datetime.timedelta(seconds=5), "SessionEnd", session["id"], cwd, copy, reason="other")
        machine.work(end + datetime.timedelta(seconds=20))
        start, _ = machine.hook(end + datetime.timedelta(hours=2), "SessionStart", str(uuid.uuid4()), cwd, copy + "x", source="startup")
        useful += any(matches(line, fact["keys"]) for line in lines_of(start) for fact in session["facts"])
    later = timed[-1][0][1] + datetime.timedelta(days=30)
    machine.work(later)
    vault = os.path.join(machine.home, ".rekindle", "vault", "MemoryVault")
    kept, days_right, days_all = [], 0, 0
    for folder, _, files in os.walk(vault):
        for name in files:
            inside = os.path.relpath(os.path.join(folder, name), vault)
            if not name.endswith(".md") or name in ("MEMORY.md", "REVIEW.md") or "_archive" in inside:
                continue
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            if inside.startswith("memory/"):
                kept += [re.sub(r"<!--.*?-->", "", line) for line in text.splitlines() if line.startswith(("* ", "_"))]
                for identity in re.findall(r"rekindle session=([0-9a-f-]{36})", text):
                    span = next((span for span, session, _ in timed if session["id"] == identity), None)
                    if span:
                        days_all += 1
                        days_right += name[:10] in {at.astimezone(datetime.timezone(datetime.timedelta(hours=hour))).strftime("%Y-%m-%d") for at in span for hour in (1, 2)}
            elif inside.startswith("personal-"):
                kept.append(text.split("---", 2)[-1].strip())
    facts = [fact for session in listed for fact in session["facts"]]
    held = [any(matches(line, fact["keys"]) for line in kept) for fact in facts]
    important = [is_held for fact, is_held in zip(facts, held) if fact.get("important")]
    worth = sum(any(matches(line, fact["keys"]) for fact in facts) for line in kept)
    answered = asked = 0
    injected = collections.Counter()
    silent = [0, 0]
    missed = []
    by_id = {fact["id"]: fact for fact in facts}
    for session in listed:
        for item in session["prompts"] + [{"prompt": prompt, "needs": []} for prompt in session.get("unanswerable", [])]:
            identity = str(uuid.uuid4())
            path = os.path.join(machine.home, ".claude", "projects", "cli", identity + ".jsonl")
            start, _ = machine.hook(later, "SessionStart", identity, cwd, path, source="startup")
            prompt, _ = machine.hook(later + datetime.timedelta(seconds=9), "UserPromptSubmit", identity, cwd, path, prompt=item["prompt"])
            lines = lines_of(start) + lines_of(prompt)
            injected["lines"] += len(lines_of(prompt))
            injected["start"] += tokens(start)
            injected["prompt"] += tokens(prompt)
            injected["asked"] += 1
            if not item["needs"]:
                silent[0] += not lines_of(prompt)
                silent[1] += 1
                continue
            asked += 1
            there = any(any(matches(line, by_id[need]["keys"]) for line in lines) for need in item["needs"])
            answered += there
            injected["useful"] += sum(any(matches(line, fact["keys"]) for fact in facts) for line in lines_of(prompt))
            if not there:
                missed.append((item["prompt"], [by_id[need]["statement"] for need in item["needs"]], held[facts.index(by_id[item["needs"][0]])], lines_of(prompt)))
    share = lambda part, whole: f"{100 * part / max(1, whole):5.1f} %  ({part} of {whole})"
    print(f"later prompts answered   {share(answered, asked)}")
    print(f"facts kept               {share(sum(held), len(held))}   important {share(sum(important), len(important))}")
    print(f"kept lines with a fact   {share(worth, len(kept))}")
    print(f"briefing after a session has a fact of it {share(useful, len(timed))}")
    print(f"right day                {share(days_right, days_all)}")
    print(f"silent when nothing answers {share(silent[0], silent[1])}")
    print(f"lines with a prompt      {injected['lines']}, with a fact {injected['useful']}; tokens, mean: start {injected['start'] / injected['asked']:.0f}, prompt {injected['prompt'] / injected['asked']:.0f}")
    if arguments.show:
        for prompt, statements, is_held, lines in missed:
            print("\nMISSED", "(kept)" if is_held else "(not kept)", prompt, "\n   needs:", "; ".join(statements))
            for line in lines:
                print("      ", line[:200])
        print("\nNot kept:")
        for fact, is_held in zip(facts, held):
            if not is_held:
                print("  ", fact["id"], fact["said_by"], fact["kind"], fact["statement"][:200])
    if arguments.keep:
        print("kept:", machine.root)
    machine.close()


if __name__ == "__main__":
    main()
