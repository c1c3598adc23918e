#!/usr/bin/env python3
"""Measures whether facts mentioned in passing return when a later task needs them.

Usage: fortnight.py PROGRAM [--set FOLDER] [--keep] [--show] [--json FILE]

Replays every session of a set (eval/fortnight/dev by default) through the real hooks, in chronological order, with default
settings and without any review. Probes are tasks typed in new sessions on later days; the briefing and the prompt hook's
output are compared with the earlier statements. Prints a table; --json FILE saves every answer.
"""
import argparse
import datetime
import glob
import json
import os
import statistics
import sys
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from replay import REFUSED, Machine, Transcript, lines_of, matches, tokens

HERE = os.path.dirname(os.path.abspath(__file__))


def when(text):
    return datetime.datetime.fromisoformat(text)


def step(seconds):
    return datetime.timedelta(seconds=seconds)


def play(machine, project, session):
    """Replays one session, hook by hook, as the client would."""
    identity = str(uuid.uuid5(uuid.NAMESPACE_URL, project["name"] + session["id"]))
    cwd = project["folder"]
    path = os.path.join(machine.home, ".claude", "projects", cwd.replace("/", "-"), identity + ".jsonl")
    begin = when(session["start"])
    machine.hook(begin, "SessionStart", identity, cwd, path, source="startup")
    script = Transcript(path, identity, cwd)
    at = begin
    for turn in session["turns"]:
        at = max(at + step(5), begin + datetime.timedelta(minutes=turn.get("minutes", 0)))
        machine.hook(at, "UserPromptSubmit", identity, cwd, path, prompt=turn["user"], permission_mode="default")
        script.user(at, turn["user"])
        steps = turn.get("steps", [])
        queued = turn.get("queued")
        for number, act in enumerate(steps):
            at += step(7)
            if "say" in act:
                script.agent(at, act["say"])
                continue
            call = script.call(at, act["tool"], act.get("input", {}))
            at += step(4)
            if queued and number >= len(steps) // 2:
                script.queued(at, queued)
                queued = None
            stopped = turn.get("interrupted") and number == len(steps) - 1
            if "refused" in act:
                refusal = REFUSED + act["refused"]
                script.result(at, call, refusal, failed=True, data=f"Error: {refusal}")
            elif stopped:
                script.interrupted(at, True)
            elif "answers" in act:
                said = ", ".join(f'"{q}"="{a}"' for q, a in act["answers"].items())
                text = f"User has answered your questions: {said}. You can now continue with the user's answers in mind."
                script.result(at, call, text, data={"questions": act["input"].get("questions", []), "answers": act["answers"]})
            else:
                script.result(at, call, act.get("output", ""), failed=act.get("failed", False))
        if queued:
            script.queued(at + step(1), queued)
        if turn.get("interrupted") and not (steps and "tool" in steps[-1]):
            script.interrupted(at + step(2), False)
        if turn.get("answer"):
            at += step(9)
            script.agent(at, turn["answer"])
        if not turn.get("interrupted"):
            machine.hook(at + step(1), "Stop", identity, cwd, path, stop_hook_active=False,
                         last_assistant_message=turn.get("answer", ""))
    machine.hook(at + step(20), "SessionEnd", identity, cwd, path, reason="prompt_input_exit")
    machine.work(at + step(40))


def probe(machine, project, item, at):
    identity = str(uuid.uuid5(uuid.NAMESPACE_URL, "probe" + project["name"] + item["id"]))
    cwd = project["folder"]
    path = os.path.join(machine.home, ".claude", "projects", cwd.replace("/", "-"), identity + ".jsonl")
    machine.work(at)
    start, _ = machine.hook(at + step(1), "SessionStart", identity, cwd, path, source="startup")
    prompt, note = machine.hook(at + step(20), "UserPromptSubmit", identity, cwd, path, prompt=item["prompt"],
                                permission_mode="default")
    return {"start": start, "prompt": prompt, "note": note}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--set", default=os.path.join(HERE, "fortnight", "dev"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--show", action="store_true", help="what was missed, and noise")
    parser.add_argument("--json")
    arguments = parser.parse_args()
    sets = [json.load(open(path, encoding="utf-8")) for path in sorted(glob.glob(os.path.join(arguments.set, "*.json")))]
    machine = Machine(arguments.program, arguments.keep)
    events = []
    for data in sets:
        data["project"]["folder"] = machine.repository(data["project"]["name"], data["project"].get("remote"))
        events += [(when(session["start"]), 0, data, session) for session in data["sessions"]]
        events += [(when(item["at"]), 1, data, item) for item in data["probes"]]
    events.sort(key=lambda event: (event[0], event[1]))
    machine.start(events[0][0] - datetime.timedelta(hours=1))
    answers = []
    for at, kind, data, item in events:
        if kind == 0:
            play(machine, data["project"], item)
            continue
        where = data
        if item.get("where") == "other":
            where = sets[(sets.index(data) + 1) % len(sets)]
        got = probe(machine, where["project"], item, at)
        answers.append((data, where, item, got))
    report(sets, answers, arguments.show)
    if arguments.json:
        kept = [{"project": data["project"]["name"], "id": item["id"], "prompt": item["prompt"], "needs": item["needs"], **got}
                for data, _, item, got in answers]
        json.dump(kept, open(arguments.json, "w", encoding="utf-8"), ensure_ascii=False, indent=1)
    if arguments.keep:
        print("kept:", machine.root)
    machine.close()


def report(sets, answers, show):
    facts = {(data["project"]["name"], fact["id"]): fact for data in sets for fact in data["planted"]}
    of_kind, found_by = {}, {"briefing": 0, "prompt": 0}
    needed = carried = stale = changed = foreign = lines_all = noise = 0
    returned, baited = set(), set()
    starts, prompts, silent, empty = [], [], 0, 0
    missed, noisy = [], []
    all_one_offs = [(data["project"]["name"], one) for data in sets for one in data["one_offs"]]
    all_bait = [(data["project"]["name"], one) for data in sets for one in data.get("bait", [])]
    for data, where, item, got in answers:
        project = data["project"]["name"]
        begin, typed = lines_of(got["start"]), lines_of(got["prompt"])
        lines = begin + typed
        starts.append(tokens(got["start"]))
        prompts.append(tokens(got["prompt"]))
        if not item["needs"]:
            empty += 1
            silent += not typed
        for need in item["needs"]:
            fact = facts[(project, need)]
            needed += 1
            there = any(matches(line, fact["keys"]) for line in lines)
            carried += there
            found_by["briefing"] += any(matches(line, fact["keys"]) for line in begin)
            found_by["prompt"] += any(matches(line, fact["keys"]) for line in typed)
            scope = fact.get("scope", "project")
            for name in (fact["kind"], "scope " + scope, "said by " + fact.get("said_by", "user"), "in " + fact.get("in", "user")):
                count = of_kind.setdefault(name, [0, 0])
                count[0] += there
                count[1] += 1
            if fact.get("ends"):
                changed += 1
                old = any(matches(line, fact.get("stale_keys")) and not matches(line, fact["keys"]) for line in lines)
                stale += old and not there
            if not there:
                missed.append((project, item["id"], need, fact["kind"], fact["statement"], item["prompt"]))
        here = where["project"]["name"]
        for line in lines:
            lines_all += 1
            own = any(matches(line, fact["keys"]) or matches(line, fact.get("stale_keys")) for fact in where["planted"])
            wide = any(matches(line, fact["keys"]) for (of, _), fact in facts.items() if fact.get("scope") == "everywhere")
            theirs = [fact for (of, _), fact in facts.items()
                      if of != here and fact.get("scope") != "everywhere" and matches(line, fact["keys"])]
            foreign += bool(theirs) and not own and not wide
            if not own and not wide:
                noise += 1
                noisy.append((here, item["id"], line))
            returned |= {(of, one["id"]) for of, one in all_one_offs if of == here and matches(line, one["keys"])}
            baited |= {(of, one["id"]) for of, one in all_bait if of == here and matches(line, one["keys"])}
    share = lambda part, whole: f"{100 * part / whole:5.1f} %  ({part} of {whole})" if whole else "none"
    print(f"carry-over             {share(carried, needed)}   by the briefing {found_by['briefing']}, by the prompt {found_by['prompt']}")
    for name, (part, whole) in sorted(of_kind.items()):
        print(f"  {name:20} {share(part, whole)}")
    print(f"stale value alone      {share(stale, changed)}")
    print(f"one-offs that return   {share(len(returned), len(all_one_offs))}")
    print(f"bait in front          {share(len(baited), len(all_bait))}")
    print(f"lines of other projects {share(foreign, lines_all)}")
    print(f"useless lines          {share(noise, lines_all)}")
    print(f"silent when nothing is needed {share(silent, empty)}")
    print(f"tokens, median         start {statistics.median(starts):.0f}, prompt {statistics.median(prompts):.0f}")
    if show:
        print("\nMissed:")
        for row in missed:
            print("  ", " | ".join(row))
        print("\nOne-offs that returned:", sorted(returned), "\nBait:", sorted(baited))
        print("\nUseless lines:")
        for line, count in sorted({(row[0], row[2]): 0 for row in noisy}.items()):
            print("  ", line[0], line[1][:300])


if __name__ == "__main__":
    main()
