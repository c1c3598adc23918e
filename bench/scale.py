#!/usr/bin/env python3
"""Measures what `reindex` and `forget` cost in large stores: time, processor time and peak memory.

Usage: python3 bench/scale.py REKINDLE CORPUS SYNTHETIC [--sizes 20000,100000] [--rounds 3] [--work DIR] [--out FILE]

Build the programs with
  cargo build --release --package rekindle --bin rekindle --package rekindle-engine --example synthetic_vectors
  cargo build --release --manifest-path bench/Cargo.toml --target-dir target/bench --bin corpus
and pass target/release/rekindle, target/bench/release/corpus and target/release/examples/synthetic_vectors. Vectors are made
up, because computing those of 100,000 memories takes half an hour; pass `-` for SYNTHETIC to measure without vectors. Peak
memory is the largest resident size, which includes mapped parts of the index. Exits with 1 if a target is missed: two seconds
for a forget at 100,000 memories, and 1 GB for a million memories by the slope of the two largest sizes. `--work` keeps the
stores, of which each forget removes a memory. Run it on a quiet machine: processor time suffers less from other work than time.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

# The targets.
MAX_FORGET_SECONDS = 2.0
FORGET_SIZE = 100_000
MAX_PEAK_MB = 1000.0
PEAK_SIZE = 1_000_000


def option(name, otherwise):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else otherwise


def measured(command, env, cwd):
    """Wall time, processor time and peak memory of a command, in seconds and MB."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - start
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed with {process.returncode}")
    return {"wall": wall, "cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / 1024}


def middle(rows, name):
    values = sorted(row[name] for row in rows)
    return values[len(values) // 2]


def measure(size, work, programs, rounds):
    rekindle, corpus, synthetic = programs
    folder = work / str(size)
    home = folder / "home"
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "REKINDLE_HOME": str(home),
           "REKINDLE_INDEX_BACKGROUND": "false", "REKINDLE_CAPTURE_BACKGROUND": "false"}
    vault = home / "vault" / "MemoryVault"
    if not vault.exists():
        home.mkdir(parents=True)
        measured([rekindle, "init", "--name", "Bench"], env, folder)
        measured([corpus, "vault", str(size), vault], env, folder)
    rows = {"reindex --no-embed": measured([rekindle, "reindex", "--all", "--no-embed"], env, folder)}
    if synthetic != "-":
        measured([synthetic, "index", home / "state" / "index"], env, folder)
        # Reads every file again and keeps the vectors of all.
        rows["reindex --all, with vectors"] = measured([rekindle, "reindex", "--all", "--no-embed"], env, folder)
    notes = sorted(path for path in vault.rglob("*.md") if "\nid: m-" in path.read_text(encoding="utf-8")[:400])
    forgets = []
    for note in notes[len(notes) // 2:][:rounds]:
        text = note.read_text(encoding="utf-8")
        name = next(line for line in text.splitlines() if line.startswith("id: "))[4:]
        forgets.append(measured([rekindle, "forget", name, "--yes"], env, folder))
        if note.exists():
            sys.exit(f"{note} is still there")
    rows["forget"] = {name: middle(forgets, name) for name in ("wall", "cpu", "peak")}
    return rows


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    programs = [sys.argv[1], sys.argv[2], sys.argv[3]]
    programs = [program if program == "-" else str(pathlib.Path(program).resolve()) for program in programs]
    sizes = sorted(int(size) for size in option("--sizes", "20000,100000").split(","))
    kept = option("--work", None)
    work = pathlib.Path(kept or tempfile.mkdtemp(prefix="rekindle-scale-")).resolve()
    try:
        results = {size: measure(size, work, programs, int(option("--rounds", "3"))) for size in sizes}
    finally:
        if kept is None:
            shutil.rmtree(work, ignore_errors=True)
    lines, missed = ["| memories | command | seconds | processor seconds | peak MB |", "|---|---|---|---|---|"], []
    for size, rows in results.items():
        for name, row in rows.items():
            lines.append(f"| {size:,} | `{name}` | {row['wall']:.2f} | {row['cpu']:.2f} | {row['peak']:.0f} |")
    if FORGET_SIZE in results and results[FORGET_SIZE]["forget"]["wall"] > MAX_FORGET_SECONDS:
        missed.append(f"forget takes {results[FORGET_SIZE]['forget']['wall']:.2f} s at {FORGET_SIZE:,} memories, "
                      f"and should take {MAX_FORGET_SECONDS} s")
    if len(sizes) > 1:
        small, large = sizes[-2:]
        for name, row in results[large].items():
            slope = (row["peak"] - results[small][name]["peak"]) / (large - small)
            peak = row["peak"] + slope * max(0, PEAK_SIZE - large)
            lines.append(f"| {PEAK_SIZE:,} (by the slope) | `{name}` | | | {peak:.0f} |")
            if peak > MAX_PEAK_MB:
                missed.append(f"`{name}` would need {peak:.0f} MB at {PEAK_SIZE:,} memories, and may need {MAX_PEAK_MB:.0f} MB")
    report = "\n".join(lines)
    print(report)
    if "--out" in sys.argv:
        pathlib.Path(option("--out", "")).write_text(report + "\n", encoding="utf-8")
    for what in missed:
        print(f"MISSED: {what}", file=sys.stderr)
    sys.exit(1 if missed else 0)


main()
