#!/usr/bin/env bash
# The long version of the fault and model tests: the real binary is killed, or refused by the system, at every step
# of save, evolve, undo, forget, hook and worker, from many states, and hundreds of times at random instants while it
# indexes; proposals are decided on in every way there is. `cargo test` does one round. Takes ROUNDS (default 5).
set -euo pipefail
cd "$(dirname "$0")/.."
rounds="${1:-5}"
REKINDLE_FAULT_ROUNDS="$rounds" REKINDLE_MODEL_SEEDS=$((rounds * 10)) \
    cargo test --package rekindle --test it -- --nocapture faults:: model:: review_model:: capture_crash:: index_crash::
