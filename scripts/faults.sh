#!/usr/bin/env bash
# Runs the long version of the fault and model tests. The real binary is killed, or gets system errors, at every step
# of save, evolve, undo, forget, hook and worker, from many states, and hundreds of times at random instants while it
# indexes. Proposals are decided in every possible way. `cargo test` runs one round; ROUNDS sets the number here (5).
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:-5}"
REKINDLE_FAULT_ROUNDS="$rounds" REKINDLE_MODEL_SEEDS=$((rounds * 10)) \
    cargo test --package rekindle --test it -- --nocapture faults:: model:: review_model:: capture_crash:: index_crash::
