#!/usr/bin/env python3
"""Measures how long a prompt waits for `rekindle hook claude UserPromptSubmit`, one new process per typed prompt.

Usage: python3 bench/hook.py PROGRAM EMPTY [--sizes 80,1000,20000] [--prompts 200] [--out FILE] [--log-line PROGRAM]

EMPTY is a program that does nothing (`cargo build --release -p rekindle-testkit --example empty`); its median, measured in
turns with the hook, is the unit. A store has the memories of `eval/memories.jsonl`, of which a project sees about 80, and is
filled up with those of the training data. The prompts are those of `eval/typed.jsonl`, in their projects. Prints percentiles
as ratios, separately for prompts with and without the cross-encoder, and exits with 1 if p95 of any size is above the target.
`--log-line` names the example `hook_log_line` of the engine; its median above that of EMPTY is what telemetry costs a hook.
"""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# The target: p95 of the hook in medians of the empty program.
MAX_P95_RATIO = 20.0
# The target: what telemetry costs a hook, in medians of the empty program.
MAX_TELEMETRY_RATIO = 0.3
# The approximate number of memories that a project of eval/memories.jsonl sees.
PROJECT_STORE = 80


def option(name, otherwise):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def fill(home, count):
    """Writes global memories into the vault."""
    texts = []
    for name in ("pairs.jsonl.gz", "named-pairs.jsonl.gz"):
        with gzip.open(ROOT / "models" / name, "rt", encoding="utf-8") as lines:
            texts += [row["text"] for row in map(json.loads, lines) if row["type"] == "memory"]
    folder = next(home.glob("**/MEMORY.md")).parent / "personal-private" / "fix"
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        # The second round uses other numbers, so that no duplicates are merged.
        text = texts[number % len(texts)] + (f" (site {number})" if number >= len(texts) else "")
        (folder / f"filler-{number:05}.md").write_text(
            f"---\nid: m-{number:012}\nkind: fix\nstatus: active\ncreated: 2026-11-01T02:13:08Z\ngroup: personal-private\n"
            f"scope: global\norigin: user\n---\n\n{text}\n", encoding="utf-8")


def timed(command, cwd, env, text):
    start = time.perf_counter()
    subprocess.run(command, cwd=cwd, env=env, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return (time.perf_counter() - start) * 1000


def percentile(times, share):
    times = sorted(times)
    return times[min(len(times) - 1, int(share * len(times)))] if times else float("nan")


def measure(program, empty, size, count):
    sys.argv = ["relevance_gate.py", program, "--prompts", "typed.jsonl"]
    sys.path.insert(0, str(ROOT / "eval"))
    import relevance_gate
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run, _ = relevance_gate.set_up(program, folder)
        if size > PROJECT_STORE:
            fill(folder / "home", size - PROJECT_STORE)
            run([program, "reindex"], folder)
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "REKINDLE_HOME": str(folder / "home"),
               "REKINDLE_INDEX_BACKGROUND": "false", "REKINDLE_CAPTURE_BACKGROUND": "false"}
        prompts = [prompt for prompt in relevance_gate.lines("typed.jsonl") if prompt["project"]]
        prompts = random.Random(size).sample(prompts, min(count, len(prompts)))
        nothing, hook, kinds = [], {}, {}
        for number, prompt in enumerate(prompts):
            session, place = f"bench-{number}", folder / prompt["project"]
            event = {"session_id": session, "transcript_path": str(folder / "none.jsonl"), "cwd": str(place),
                     "hook_event_name": "UserPromptSubmit", "prompt": prompt["prompt"]}
            nothing.append(timed([empty], place, env, ""))
            hook[session] = timed([program, "hook", "claude", "UserPromptSubmit"], place, env, json.dumps(event))
        for log in folder.glob("home/**/recall*.jsonl"):
            for line in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
                evidence = (line.get("silence") or {}).get("evidence") or {}
                kinds[line.get("session")] = "read" if evidence.get("passagesRead") else "unread"
    unit = percentile(nothing, 0.5)
    rows = {"all": list(hook.values())}
    for session, took in hook.items():
        rows.setdefault(kinds.get(session, "nothing asked"), []).append(took)
    return unit, rows


def measure_telemetry(empty, log_line, count=400):
    """What one line of the hook log costs, in medians of the empty program."""
    with tempfile.TemporaryDirectory() as folder:
        env = {"PATH": os.environ["PATH"]}
        nothing, logged = [], []
        for _ in range(count):
            nothing.append(timed([empty], folder, env, ""))
            logged.append(timed([log_line, folder], folder, env, ""))
    return (percentile(logged, 0.5) - percentile(nothing, 0.5)) / percentile(nothing, 0.5)


def main():
    program, empty = (str(pathlib.Path(place).resolve()) for place in sys.argv[1:3])
    sizes, count, out = option("--sizes", "80,1000,20000"), int(option("--prompts", "200")), option("--out", None)
    # Measuring replaces the arguments.
    log_line = option("--log-line", None)
    lines, missed = ["| memories | prompts | count | p50 | p90 | p95 |", "|---|---|---|---|---|---|"], []
    for size in map(int, sizes.split(",")):
        unit, rows = measure(program, empty, size, count)
        for kind, times in rows.items():
            ratios = [percentile(times, share) / unit for share in (0.5, 0.9, 0.95)]
            lines.append(f"| {size:,} | {kind} | {len(times)} | " + " | ".join(f"{ratio:.1f} x" for ratio in ratios) + " |")
            if kind == "all" and ratios[2] > MAX_P95_RATIO:
                missed.append(f"{size:,} memories: p95 is {ratios[2]:.1f} x the empty program ({unit:.2f} ms), wanted {MAX_P95_RATIO:.0f} x")
            print(f"{size:,} memories, {kind}: p50 {ratios[0]:.1f} x, p95 {ratios[2]:.1f} x of {unit:.2f} ms", file=sys.stderr)
    if log_line:
        ratio = measure_telemetry(empty, str(pathlib.Path(log_line).resolve()))
        lines += ["", f"Telemetry costs a hook {ratio:.2f} x the empty program."]
        if ratio > MAX_TELEMETRY_RATIO:
            missed.append(f"telemetry costs {ratio:.2f} x the empty program, wanted {MAX_TELEMETRY_RATIO} x")
    print("\n".join(lines))
    if out:
        pathlib.Path(out).write_text("\n".join(lines) + "\n")
    for line in missed:
        print(f"TARGET MISSED: {line}", file=sys.stderr)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
