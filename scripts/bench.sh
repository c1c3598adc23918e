#!/usr/bin/env bash
# Runs the benchmarks, which report ratios to anchors measured in the same run. Takes a few minutes.
# `scripts/bench.sh capture` runs only that benchmark.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --package rekindle-testkit --examples
for bench in ${1:-vault capture inject}; do
  cargo bench --package rekindle --bench "$bench"
done
