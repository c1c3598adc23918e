#!/usr/bin/env bash
# Measures the page of `rekindle web` as a browser meets it: searches over HTTP while typing and when submitted, every
# page, time to first paint in a headless Chromium, the size of the assets, and the start of the rest of the program.
# docs/benchmarks.md has the figures. Without --home it writes a store of 20,000 notes and indexes it, which takes minutes.
#
#   --home DIR       a Rekindle home that is indexed already (as `scripts/bench-recall.sh --keep DIR` leaves in DIR/20000/home)
#   --memories N     the number of notes to write otherwise (20000)
#   --rounds N       the number of searches (200)
#
# REKINDLE_BIN names the program to measure (by default a release build).
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --release --package rekindle --bin rekindle
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/release/rekindle"
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || echo "WITHOUT  the time to first paint: no Chromium is installed"
exec python3 scripts/web/bench.py "$(realpath "$REKINDLE_BIN")" ${browser:+--chromium "$browser"} "$@"
