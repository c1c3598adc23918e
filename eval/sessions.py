#!/usr/bin/env python3
"""Measures what is learnt from real recorded sessions.

Usage: sessions.py PROGRAM FOLDER... [--show] [--keep] [--json FILE]
       sessions.py PROGRAM LIST FOLDER

Each FOLDER belongs to one project. It contains transcripts of Claude Code (`<session id>.jsonl`) and `list.json`: for each
session, the facts that a careful reader would keep (each with the keys of a matching line), prompts that they answer weeks
later, and prompts that nothing answers. A folder of such folders stands for all of them. The transcripts are not part of
this repository.

Each project gets a home of its own. Every session runs through the real hooks with the clock at its own time; the prompts
are typed a month after the last session. A prompt that was not answered is classed by where its answer was lost: not kept,
not found, found but not shown, or withheld by the relevance gate.
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

LOSSES = ("not kept", "not found", "not shown", "gated")
FOUND_RESULTS = 10


def times(path):
    found = []
    for line in open(path, encoding="utf-8", errors="replace"):
        match = re.search(r'"timestamp":"([0-9T:.\-]+Z)"', line)
        if match:
            found.append(datetime.datetime.fromisoformat(match.group(1).replace("Z", "+00:00")))
    return min(found), max(found)


def projects(arguments):
    """Returns the name, the sessions and the folder of each project."""
    if len(arguments.places) == 2 and arguments.places[0].endswith(".json"):
        found = [tuple(arguments.places)]
    else:
        found = []
        for place in arguments.places:
            folders = [place] + [os.path.join(place, name) for name in sorted(os.listdir(place))]
            found += [(os.path.join(folder, "list.json"), folder) for folder in folders if os.path.isfile(os.path.join(folder, "list.json"))]
    if not found:
        raise SystemExit("no list.json found below " + ", ".join(arguments.places))
    return [(os.path.basename(os.path.normpath(folder)), json.load(open(path, encoding="utf-8"))["sessions"], folder) for path, folder in found]


class Results:
    """Counts of one project, or of all of them."""

    def __init__(self):
        self.count = collections.Counter()
        self.missed, self.not_kept, self.worthless, self.answers = [], [], [], []

    def add(self, other):
        self.count.update(other.count)
        for name in ("missed", "not_kept", "worthless", "answers"):
            getattr(self, name).extend(getattr(other, name))

    def share(self, part, whole):
        return f"{100 * self.count[part] / max(1, self.count[whole]):5.1f} %  ({self.count[part]} of {self.count[whole]})"

    def print(self, name):
        count = self.count
        print(f"\n{name}")
        print(f"later prompts answered   {self.share('answered', 'asked')}   lost: " + ", ".join(f"{loss} {count[loss]}" for loss in LOSSES))
        print(f"facts kept               {self.share('held', 'facts')}   important {self.share('important held', 'important')}")
        print(f"  said by the user       {self.share('user held', 'user')}   by the agent {self.share('agent held', 'agent')}")
        print(f"kept lines with a fact   {self.share('worth', 'kept')}")
        print(f"briefing after a session has a fact of it {self.share('useful', 'sessions')}")
        print(f"right day                {self.share('days right', 'days')}")
        print(f"silent when nothing answers {self.share('silent', 'unanswerable')}")
        prompts = max(1, count["asked"] + count["unanswerable"])
        print(f"lines with a prompt      {count['lines']}, with a fact {count['useful lines']}; "
              f"tokens, mean: start {count['start'] / prompts:.0f}, prompt {count['prompt'] / prompts:.0f}")

    def show(self):
        for prompt, statements, loss, lines in self.missed:
            print(f"\nMISSED ({loss})", prompt, "\n   needs:", "; ".join(statements))
            for line in lines:
                print("      ", line[:400])
        print("\nNot kept:")
        for fact in self.not_kept:
            print("  ", fact["id"], fact["said_by"], fact["kind"], fact["statement"][:200])
        print("\nKept without a fact:")
        for line in self.worthless:
            print("  ", line[:240])


def kept_lines(vault, timed, results):
    """Reads every line that was kept, and checks its day."""
    kept = []
    for folder, _, files in os.walk(vault):
        for name in sorted(files):
            inside = os.path.relpath(os.path.join(folder, name), vault)
            if not name.endswith(".md") or name in ("MEMORY.md", "REVIEW.md") or "_archive" in inside:
                continue
            text = open(os.path.join(folder, name), encoding="utf-8").read()
            if inside.startswith("memory/"):
                lines = [re.sub(r"<!--.*?-->", "", line) for line in text.splitlines() if line.startswith(("* ", "_"))]
                # Receipts of decisions are bookkeeping and no memories.
                kept += [line for line in lines if not re.match(r"\* \w+ `p-", line)]
                for identity in re.findall(r"rekindle session=([0-9a-f-]{36})", text):
                    span = next((span for span, session, _ in timed if session["id"] == identity), None)
                    if span:
                        zones = [datetime.timezone(datetime.timedelta(hours=hour)) for hour in (1, 2)]
                        days = {at.astimezone(zone).strftime("%Y-%m-%d") for at in span for zone in zones}
                        days |= {(span[0] + datetime.timedelta(days=day)).strftime("%Y-%m-%d") for day in range((span[1] - span[0]).days + 1)}
                        results.count["days"] += 1
                        results.count["days right"] += name[:10] in days
            elif inside.startswith("personal-"):
                kept.append(text.split("---", 2)[-1].strip())
    return kept


def recalled(machine, at, cwd, prompt):
    """Returns the texts that recall finds, and whether the relevance gate withholds them."""
    answer = json.loads(machine.run(at, "recall", "--json", "--anyway", "-k", str(FOUND_RESULTS), "--", prompt, cwd=cwd))
    silence = (answer.get("silence") or {}).get("reason") != "relevant"
    return answer.get("results", []), silence


def measure(program, name, listed, folder, keep):
    results = Results()
    machine = Machine(program, keep)
    cwd = machine.repository("work", f"git@git.example.com:acme/{name}.git")
    timed = []
    for session in listed:
        path = os.path.join(folder, session["id"] + ".jsonl")
        timed.append((times(path), session, path))
    timed.sort(key=lambda row: row[0][1])
    machine.start(timed[0][0][0] - datetime.timedelta(hours=1))
    for (begin, end), session, path in timed:
        text = open(path, encoding="utf-8", errors="replace").read()
        # The sessions ran in folders of other machines.
        text = re.sub(r'"cwd":"[^"]*"', f'"cwd":"{cwd}"', text)
        copy = os.path.join(machine.home, ".claude", "projects", "work", session["id"] + ".jsonl")
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        open(copy, "w", encoding="utf-8").write(text)
        machine.hook(begin, "SessionStart", session["id"], cwd, copy, source="startup")
        machine.hook(end + datetime.timedelta(seconds=5), "SessionEnd", session["id"], cwd, copy, reason="other")
        machine.work(end + datetime.timedelta(seconds=20))
        start, _ = machine.hook(end + datetime.timedelta(hours=2), "SessionStart", str(uuid.uuid4()), cwd, copy + "x", source="startup")
        results.count["sessions"] += 1
        results.count["useful"] += any(matches(line, fact["keys"]) for line in lines_of(start) for fact in session["facts"])
    later = timed[-1][0][1] + datetime.timedelta(days=30)
    machine.work(later)
    kept = kept_lines(os.path.join(machine.home, ".rekindle", "vault", "MemoryVault"), timed, results)
    facts = [fact for session in listed for fact in session["facts"]]
    held = {fact["id"]: any(matches(line, fact["keys"]) for line in kept) for fact in facts}
    for fact in facts:
        for group in ["facts", fact["said_by"]] + ["important"] * bool(fact.get("important")):
            results.count[group] += 1
            results.count["held" if group == "facts" else f"{group} held"] += held[fact["id"]]
    results.not_kept = [fact for fact in facts if not held[fact["id"]]]
    is_worth = [any(matches(line, fact["keys"]) for fact in facts) for line in kept]
    results.count["kept"], results.count["worth"] = len(kept), sum(is_worth)
    results.worthless = [line for line, worth in zip(kept, is_worth) if not worth]
    by_id = {fact["id"]: fact for fact in facts}
    for session in listed:
        for item in session["prompts"] + [{"prompt": prompt, "needs": []} for prompt in session.get("unanswerable", [])]:
            ask(machine, later, cwd, item, by_id, held, results)
    if keep:
        print("kept:", machine.root)
    machine.close()
    return results


def ask(machine, later, cwd, item, by_id, held, results):
    """Types one prompt in a new session."""
    identity = str(uuid.uuid4())
    path = os.path.join(machine.home, ".claude", "projects", "work", identity + ".jsonl")
    start, _ = machine.hook(later, "SessionStart", identity, cwd, path, source="startup")
    prompt, _ = machine.hook(later + datetime.timedelta(seconds=9), "UserPromptSubmit", identity, cwd, path, prompt=item["prompt"])
    begin, lines = lines_of(start), lines_of(prompt)
    count = results.count
    count["lines"] += len(lines)
    count["start"] += tokens(start)
    count["prompt"] += tokens(prompt)
    answer = {"prompt": item["prompt"], "needs": [by_id[need] for need in item["needs"]], "start": begin, "lines": lines}
    results.answers.append(answer)
    if not item["needs"]:
        count["silent"] += not lines
        count["unanswerable"] += 1
        return
    count["asked"] += 1
    answers = lambda text: any(matches(text, by_id[need]["keys"]) for need in item["needs"])
    is_answered = any(answers(line) for line in begin + lines)
    count["answered"] += is_answered
    count["useful lines"] += sum(any(matches(line, fact["keys"]) for fact in by_id.values()) for line in lines)
    found, is_silent = recalled(machine, later, cwd, item["prompt"])
    answer["found"] = found
    if is_answered:
        return
    if not any(held[need] for need in item["needs"]) and not any(answers(hit["text"]) for hit in found):
        loss = "not kept"
    elif not any(answers(hit["text"]) for hit in found):
        loss = "not found"
    else:
        loss = "gated" if is_silent and not lines else "not shown"
    count[loss] += 1
    results.missed.append((item["prompt"], [by_id[need]["statement"] for need in item["needs"]], loss, lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("places", nargs="+", metavar="FOLDER")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    total, measured = Results(), []
    for name, listed, folder in projects(arguments):
        results = measure(arguments.program, name, listed, folder, arguments.keep)
        measured.append(results)
        total.add(results)
        results.print(name)
        if arguments.show:
            results.show()
    if len(measured) > 1:
        total.print(f"{len(measured)} projects")
    if arguments.json:
        json.dump(total.answers, open(arguments.json, "w", encoding="utf-8"), ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
