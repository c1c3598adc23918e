"""Measures recall in other languages, with the sets of `eval/languages` (B-06, REC-01).

Usage: python3 eval/languages.py PROGRAM [--half HALF] [--only de,xx] [--answers FILE]

Saves the memories of one language at a time into a new home, asks its prompts with `rekindle recall --json --anyway` in the
project's folder, and prints for each form of question how many find their answer among the first five, and how often recall
is silent. `xx` has English memories that are asked in all four languages. Needs only git.
"""

import json
import pathlib
import sys
import tempfile

sys.argv, given = [sys.argv[0]], sys.argv
import relevance_gate
sys.argv = given

SETS = ["de", "es", "fr", "pt", "xx"]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    option = relevance_gate.option
    half, kept = option("--half"), []
    print("| set | half | hits@5 of paraphrases | names it | cross | silent on answers found | near misses | off topic |")
    print("|---|---|---|---|---|---|---|---|")
    for name in option("--only", ",".join(SETS)).split(","):
        relevance_gate.PROMPTS, relevance_gate.MEMORIES = [f"languages/{name}.jsonl"], f"languages/{name}-memories.jsonl"
        relevance_gate.HALVES = [half] if half else ["tune", "report"]
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            run, ids = relevance_gate.set_up(program, folder)
            answers = relevance_gate.ask(program, folder, run, ids, False)
        kept += [{"set": name, **answer} for answer in answers]
        for one in relevance_gate.HALVES:
            mine = [answer for answer in answers if answer["half"] == one]
            silent = lambda answer: answer["silence"]["probability"] < answer["silence"]["threshold"]
            right = lambda answer: bool(set(answer["gold"] or []) & set(answer["found"]))
            part = lambda rows, holds: f"{sum(map(holds, rows))} of {len(rows)}"
            of = lambda kind, form=None: [row for row in mine if row["type"] == kind and form in (None, row["form"])]
            found = [row for row in of("answerable") if right(row)]
            cells = [part(of("answerable", form), right) for form in ("paraphrase", "names it", "cross")]
            cells += [part(found, silent), part(of("near miss"), silent), part(of("off topic"), silent)]
            print(f"| {name} | {one} | " + " | ".join(cells) + " |", flush=True)
    if "--answers" in sys.argv:
        pathlib.Path(option("--answers")).write_text("".join(json.dumps(row) + "\n" for row in kept))


if __name__ == "__main__":
    main()
