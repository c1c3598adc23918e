"""Fits the constants of the relevance gate, which turn the program's measures into a probability (B-06).

Usage: python3 eval/calibrate_gate.py ANSWERS...

ANSWERS are files written by `eval/relevance_gate.py PROGRAM --prompts … --answers FILE`, one for each set (asked and typed,
balanced, named). Fits a logistic regression on the tuning halves, with equal weight for each set, and picks the largest
threshold that costs at most `COST` points of R@5 on each set. Prints the constants for
crates/core/src/recall/relevance_gate/mod.rs and their results on both halves. Needs numpy.
"""

import json
import pathlib
import sys
from collections import defaultdict

import numpy as np

# As in crates/core/src/recall/relevance_gate/mod.rs.
READING_RANGE, SMALL_TALK_RANGE = (-6.0, 3.0), (-0.2, 1.0)
# The maximum loss of R@5 on the tuning half of a set, in points: half a point below the target, since unseen prompts cost more.
COST = 2.5
# The weight of an off-topic prompt: hooks see more of them than the sets contain.
OFF_TOPIC_WEIGHT = 3.0
STEPS, RIDGE = 50, 1e-3


def measures(rows, read):
    """Returns a column for each measure of the gate, and one for the bias."""
    evidence = [row["silence"]["evidence"] for row in rows]
    reading = np.array([one["reading"] or 0.0 for one in evidence]).clip(*READING_RANGE)
    cosine = np.array([one["bestCosine"] for one in evidence])
    small_talk = np.array([one["smallTalk"] or 0.0 for one in evidence]).clip(*SMALL_TALK_RANGE)
    # With a cross-encoder score, the cosine adds nothing: its fitted weight is slightly negative.
    return np.stack([reading if read else cosine, -small_talk, np.ones(len(rows))], 1)


def helps(row):
    return row["type"] == "answerable" and bool(set(row["gold"] or []) & set(row["found"]))


def fit(columns, labels, weights):
    """Fits a logistic regression by Newton's method."""
    found = np.zeros(columns.shape[1])
    for _ in range(STEPS):
        odds = 1 / (1 + np.exp(-columns @ found))
        slope = columns.T @ (weights * (labels - odds)) - RIDGE * found
        curve = (columns * (weights * odds * (1 - odds))[:, None]).T @ columns + RIDGE * np.eye(len(found))
        found += np.linalg.solve(curve, slope)
    return found


def shares(rows, odds, least):
    """Returns R@5, its cost, and the shares of silence on near misses and off topic, in per cent."""
    kinds = defaultdict(list)
    for row, odd in zip(rows, odds):
        kinds[row["type"]].append((helps(row), odd < least))
    mean = lambda flags: 100 * float(np.mean(flags)) if flags else float("nan")
    silent = lambda kind: mean([quiet for _, quiet in kinds[kind]])
    answerable = kinds["answerable"]
    return mean([right for right, _ in answerable]), mean([right and quiet for right, quiet in answerable]), silent("near miss"), silent("off topic")


def main():
    sets = {}
    for name in sys.argv[1:]:
        rows = [json.loads(line) for line in pathlib.Path(name).read_text().splitlines()]
        sets[pathlib.Path(name).stem] = [row for row in rows if row["silence"]["evidence"] and not row["everywhere"]]
    tune = {name: [row for row in rows if row["half"] == "tune"] for name, rows in sets.items()}
    # A prompt whose answer was not found says nothing about the gate.
    known = {name: [row for row in rows if row["type"] != "answerable" or helps(row)] for name, rows in tune.items()}
    weight = lambda row: OFF_TOPIC_WEIGHT if row["type"] == "off topic" else 1.0
    for read in (True, False):
        columns = np.concatenate([measures(rows, read) for rows in known.values()])
        labels = np.concatenate([[helps(row) for row in rows] for rows in known.values()]).astype(float)
        weights = np.concatenate([[weight(row) * 1000 / len(rows) for row in rows] for rows in known.values()])
        found = fit(columns, labels, weights)
        least = np.inf
        for rows in tune.values():
            right = [row for row in rows if helps(row)]
            odds = np.sort(measures(right, read) @ found)
            answerable = sum(row["type"] == "answerable" for row in rows)
            least = min(least, odds[int(COST / 100 * answerable)])
        threshold = 1 / (1 + np.exp(-least))
        names = ["reading" if read else "cosine", "small_talk", "bias"]
        print("READ:  " if read else "UNREAD:", ", ".join(f"{name}: {value:.3f}" for name, value in zip(names, found)), f"threshold: {threshold:.3f}")
        for name, rows in sets.items():
            for half in ("tune", "report"):
                some = [row for row in rows if row["half"] == half]
                numbers = " ".join(f"{number:6.1f}" for number in shares(some, measures(some, read) @ found, least))
                print(f"  {name:24} {half:6} found, cost, near misses, off topic: {numbers}")


if __name__ == "__main__":
    main()
