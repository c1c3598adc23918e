#!/usr/bin/env bash
# Benchmarks: ratios against anchors in the same run. About a minute.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --package rekindle-testkit --examples
cargo bench --package rekindle --bench vault
