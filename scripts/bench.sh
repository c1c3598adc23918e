#!/usr/bin/env bash
# Benchmarks: ratios against anchors in the same run. A few minutes. `scripts/bench.sh capture` runs only that one.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --package rekindle-testkit --examples
for bench in ${1:-vault capture inject}; do
  cargo bench --package rekindle --bench "$bench"
done
