"""Measures recall in small stores: a few memories, drawn from `eval/` (B-06).

Usage: python3 eval/few.py PROGRAM [--sizes 5,10,20] [--half HALF] [--answers FILE]

For each size it draws memories of a project (once for every project of `balanced.jsonl`, three times for those of
`asked.jsonl` and `typed.jsonl`), saves them into a new home and asks prompts that they answer, prompts whose memory was not
drawn, near misses, prompts about other projects, and off-topic prompts. Prints the cost of silence and the shares of silence.
The draw is the same every time. `--half` is `tune` or `report` (default: both). `--answers` saves the answers, one line of
JSON per prompt.
"""

import json
import pathlib
import random
import sys
import tempfile

import relevance_gate as gate

KINDS = ["answered", "answered elsewhere", "near miss", "other project", "off topic"]
MOST = {"answered": 12}
USUALLY = 6


def drawn(rng, memories, prompts, off_topic, project, size):
    """Returns some memories of a project, and prompts of each kind for them."""
    store = rng.sample([memory for memory in memories if memory["project"] == project], size)
    ids = {memory["id"] for memory in store}
    work = [prompt for prompt in prompts if prompt["type"] != "off topic"]
    answerable = [prompt for prompt in work if prompt["type"] == "answerable" and prompt["project"] == project]
    kinds = {
        "answered": [prompt for prompt in answerable if ids & set(prompt["gold"])],
        "answered elsewhere": [prompt for prompt in answerable if not ids & set(prompt["gold"])],
        "near miss": [prompt for prompt in work if prompt["type"] == "near miss" and prompt["project"] == project],
        "other project": [prompt for prompt in work if prompt["project"] not in (None, project)],
        "off topic": off_topic,
    }
    asked = {kind: rng.sample(of, min(len(of), MOST.get(kind, USUALLY))) for kind, of in kinds.items()}
    return store, asked


def ask(program, store, asked):
    """Asks the prompts in a home with nothing but these memories."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run = gate.runner(folder)
        run([program, "init", "--name", "Eval"], folder)
        ids = {}
        for memory in store:
            save = [program, "save", memory["kind"], memory["id"], "--global", "--json", "--body", "-"]
            ids[json.loads(run(save, folder, memory["text"]))["id"]] = memory["id"]
        run([program, "reindex"], folder)
        for kind, prompts in asked.items():
            for prompt in prompts:
                answer = json.loads(run([program, "recall", "--json", "--anyway", "-"], folder, prompt["prompt"]))
                found = [ids.get(hit["id"]) for hit in answer["results"][:5]]
                yield {**prompt, "kind": kind, "found": found, "silence": answer["silence"]}


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    halves = [gate.option("--half")] if "--half" in sys.argv else ["tune", "report"]
    of_halves = lambda *names: [prompt for prompt in gate.lines(*names) if prompt["half"] in halves]
    typed = of_halves("asked.jsonl", "typed.jsonl")
    off_topic = [prompt for prompt in typed if prompt["type"] == "off topic"]
    sets = [("balanced-memories.jsonl", of_halves("balanced.jsonl"), 1), ("memories.jsonl", typed, 3)]
    kept = []
    print("| memories | answered | cost |", " | ".join(KINDS[1:]), "|\n|---|---|---|" + "---|" * len(KINDS[1:]), flush=True)
    for size in map(int, gate.option("--sizes", "5,10,20").split(",")):
        rng, answers = random.Random(size), []
        for name, prompts, draws in sets:
            memories = gate.lines(name)
            for project in sorted({memory["project"] for memory in memories if memory["project"]}) * draws:
                answers += ask(program, *drawn(rng, memories, prompts, off_topic, project, size))
        kept += [{**answer, "size": size} for answer in answers]
        silent = lambda answer: answer["silence"]["probability"] < answer["silence"]["threshold"]
        of = lambda kind: [answer for answer in answers if answer["kind"] == kind]
        right = lambda answer: bool(set(answer["gold"]) & set(answer["found"]))
        per_cent = lambda kind, holds: 100 * sum(map(holds, of(kind))) / max(len(of(kind)), 1)
        cost = per_cent("answered", lambda answer: right(answer) and silent(answer))
        print(f"| {size} | {len(of('answered'))} | {cost:.1f} |",
              " | ".join(f"{per_cent(kind, silent):.1f}" for kind in KINDS[1:]), "|", flush=True)
    if "--answers" in sys.argv:
        pathlib.Path(gate.option("--answers")).write_text("".join(json.dumps(one) + "\n" for one in kept))


main()
