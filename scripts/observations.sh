#!/usr/bin/env bash
# observations.sh FOLDER…: what the rules that need no model find in the transcripts below FOLDER, each finding beside
# the messages it came from, for somebody to judge (docs/observing.md). Nothing is written.
set -euo pipefail
if [ $# -eq 0 ]; then echo "usage: scripts/observations.sh FOLDER…" >&2; exit 2; fi
folders=()
for folder in "$@"; do folders+=("$(realpath "$folder")"); done
cd "$(dirname "$0")/.."
cargo run --quiet --package rekindle-engine --example observations -- show "${folders[@]}"
