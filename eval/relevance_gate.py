"""Measures how often recall stays silent, and the cost of that, with the sets of `eval/` (B-06).

Usage: python3 eval/relevance_gate.py PROGRAM [--prompts NAMES] [--half HALF] [--answers FILE] [--plot FILE]

Saves the memories into a new home, asks every prompt in its project's folder with `rekindle recall --json --anyway`, and
prints the shares as a table, with the curve over thresholds. Needs only git, and removes the home at the end. `--prompts`
names one or more of `asked.jsonl`, `typed.jsonl` and `prompts.jsonl`, separated by commas (default: the first two), or
`balanced.jsonl`, which has its own memories (`eval/README.md` describes the sets). `--half tune` skips the reporting half.
`--answers` saves the answers, one line of JSON per prompt. `--plot` draws the cost of silence against its share, on the
reporting half.
"""

import json
import math
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent


def option(name, otherwise=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


PROMPTS = option("--prompts", "asked.jsonl,typed.jsonl").split(",")
OWN_MEMORIES = {"balanced.jsonl": "balanced-memories.jsonl", "named.jsonl": "named-memories.jsonl"}
MEMORIES = OWN_MEMORIES.get(PROMPTS[0], "memories.jsonl")
if len(PROMPTS) > 1 and OWN_MEMORIES.keys() & set(PROMPTS):
    sys.exit("balanced.jsonl and named.jsonl have memories of their own: ask each alone, with --prompts")
HALVES = [option("--half")] if "--half" in sys.argv else ["tune", "report"]


def lines(*names):
    return [json.loads(line) for name in names for line in (HERE / name).read_text().splitlines()]


def runner(folder):
    """Runs programs with a home in `folder`."""
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "REKINDLE_HOME": str(folder / "home")}
    def run(arguments, cwd, text=None):
        # A memory saved without a terminal counts as an agent's; these stand for a person's. Nobody reads the terminal, so
        # no progress may be written to it.
        ours, theirs = pty.openpty()
        stderr = theirs if "save" in arguments else subprocess.DEVNULL
        try:
            return subprocess.run(arguments, cwd=cwd, env=env, input=text, stdout=subprocess.PIPE, stderr=stderr, text=True,
                                  check=True).stdout
        finally:
            os.close(ours)
            os.close(theirs)
    return run


def set_up(program, folder):
    """Creates a home with the memories, and a folder for each project."""
    run = runner(folder)
    run([program, "init", "--name", "Eval"], folder)
    memories = lines(MEMORIES)
    for project in {memory["project"] for memory in memories} | {prompt["project"] for prompt in lines(*PROMPTS)} | {None}:
        place = folder / (project or "elsewhere")
        place.mkdir()
        if project:
            run(["git", "init", "--quiet"], place)
            run(["git", "remote", "add", "origin", f"https://example.com/eval/{project}.git"], place)
    ids = {}
    for memory in memories:
        place = folder / (memory["project"] or "elsewhere")
        save = [program, "save", memory["kind"], memory["id"], "--json", "--body", "-"]
        saved = json.loads(run(save + ([] if memory["project"] else ["--global"]), place, memory["text"]))
        ids[saved["id"]] = memory["id"]
    run([program, "reindex"], folder)
    return run, ids


def ask(program, folder, run, ids, everywhere):
    """Asks every prompt in its project's folder, and a prompt without a project in every folder."""
    answers, prompts = [], [prompt for prompt in lines(*PROMPTS) if prompt["half"] in HALVES]
    projects = sorted({prompt["project"] for prompt in prompts if prompt["project"]})
    for prompt in prompts:
        places = ["elsewhere"] if everywhere else [prompt["project"]] if prompt["project"] else projects
        for place in places:
            asked = [program, "recall", "--json", "--anyway", *(["--project", "all"] if everywhere else []), "-"]
            answer = json.loads(run(asked, folder / place, prompt["prompt"]))
            found = [ids.get(hit["id"]) for hit in answer["results"][:5]]
            answers.append({**prompt, "asked in": place, "found": found, "silence": answer["silence"]})
    return answers


def share(answers, holds):
    """Returns the share of prompts in per cent; a prompt asked in several folders counts in proportion."""
    prompts = {}
    for answer in answers:
        prompts.setdefault(answer["id"], []).append(holds(answer))
    return 100 * sum(sum(held) / len(held) for held in prompts.values()) / max(len(prompts), 1)


def log_odds(probability):
    """Returns the log odds of a probability, clamped away from 0 and 1."""
    kept = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(kept / (1 - kept))


def told(answers, half, more):
    """Returns R@5, its cost, and the shares of silence with a threshold `more` log odds higher."""
    of = lambda kind: [answer for answer in answers if answer["half"] == half and answer["type"] == kind]
    silent = lambda answer: log_odds(answer["silence"]["probability"]) < log_odds(answer["silence"]["threshold"]) + more
    right = lambda answer: bool(set(answer["gold"] or []) & set(answer["found"]))
    cost = share(of("answerable"), lambda answer: right(answer) and silent(answer))
    return [share(of("answerable"), right), cost, share(of("near miss"), silent), share(of("off topic"), silent)]


def plot(answers):
    """Draws the cost on the x axis and the silence on the y axis, both in per cent."""
    wide, high, left, top, most = 640, 360, 50, 20, 12
    x = lambda cost: left + cost / most * (wide - left - 20)
    y = lambda silent: top + (100 - silent) / 100 * (high - top - 50)
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12">',
             f'<rect width="{wide}" height="{high}" fill="#fff"/>']
    for step in range(0, 101, 20):
        drawn.append(f'<line x1="{left}" x2="{wide - 20}" y1="{y(step):.0f}" y2="{y(step):.0f}" stroke="#ddd"/>')
        drawn.append(f'<text x="{left - 6}" y="{y(step) + 4:.0f}" text-anchor="end">{step}</text>')
    for step in range(0, most + 1, 2):
        drawn.append(f'<text x="{x(step):.0f}" y="{high - 32}" text-anchor="middle">{step}</text>')
    drawn.append(f'<text x="{(left + wide) / 2:.0f}" y="{high - 12}" text-anchor="middle">points of R@5 that silence costs</text>')
    curves = [("off topic", 3, "#06c", False), ("off topic, all memories", 3, "#06c", True),
              ("near misses", 2, "#c50", False), ("near misses, all memories", 2, "#c50", True)]
    for number, (name, column, colour, everywhere) in enumerate(curves):
        mine = [answer for answer in answers if answer["everywhere"] == everywhere]
        rows = [told(mine, "report", step / 10) for step in range(-60, 61)]
        points = " ".join(f"{x(row[1]):.1f},{y(row[column]):.1f}" for row in rows if row[1] <= most)
        dashes = ' stroke-dasharray="5 4"' if everywhere else ""
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        here = told(mine, "report", 0.0)
        drawn.append(f'<circle cx="{x(here[1]):.1f}" cy="{y(here[column]):.1f}" r="4" fill="{colour}"/>')
        drawn.append(f'<line x1="{wide - 240}" x2="{wide - 210}" y1="{200 + 18 * number}" y2="{200 + 18 * number}" stroke="{colour}" stroke-width="2"{dashes}/>')
        drawn.append(f'<text x="{wide - 202}" y="{204 + 18 * number}">{name}</text>')
    return "\n".join(drawn + ["</svg>", ""])


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run, ids = set_up(program, folder)
        for everywhere in (False, True):
            answers = ask(program, folder, run, ids, everywhere)
            kept += [{**answer, "everywhere": everywhere} for answer in answers]
            print(f"\n{'all memories' if everywhere else 'memories of the project and common ones'}, in per cent\n")
            print("| half | log odds more | R@5 | cost | silent on near misses | silent on off topic |")
            print("|---|---|---|---|---|---|")
            for half in HALVES:
                for more in (-1.0, -0.5, 0.0, 0.5, 1.0):
                    numbers = " | ".join(f"{number:.1f}" for number in told(answers, half, more))
                    print(f"| {half} | {more:+.1f} | {numbers} |")
    if "--answers" in sys.argv:
        pathlib.Path(option("--answers")).write_text("".join(json.dumps(one) + "\n" for one in kept))
    if "--plot" in sys.argv:
        pathlib.Path(option("--plot")).write_text(plot(kept))


if __name__ == "__main__":
    main()
