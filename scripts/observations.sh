#!/usr/bin/env bash
# Usage: scripts/observations.sh FOLDER…
#
# Prints the findings of the offline rules for the transcripts below FOLDER, each with its source messages, for a person
# to judge (docs/observing.md). Writes nothing.
set -euo pipefail
if [ $# -eq 0 ]; then echo "usage: scripts/observations.sh FOLDER…" >&2; exit 2; fi
folders=()
for folder in "$@"; do folders+=("$(realpath "$folder")"); done
cd "$(dirname "$0")/.."
cargo run --quiet --package rekindle-engine --example observations -- show "${folders[@]}"
