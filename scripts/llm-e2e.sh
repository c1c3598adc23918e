#!/usr/bin/env bash
# Language models for real: a small model in a server on loopback for the provider `openai`, and the real Claude Code,
# Codex, Gemini CLI and pi for the provider `command`, against a model on loopback that is none. Nothing leaves the
# machine except the downloads. What cannot be had here is skipped, and it says so.
#
#   scripts/llm-e2e.sh FOLDER                     both; the downloads (1.2 GB) are kept in FOLDER
#   scripts/llm-e2e.sh FOLDER --only server       only the model in a server
#   scripts/llm-e2e.sh FOLDER --only programs     only the agents
#
# REKINDLE_BIN names the program to test (else it is built); REKINDLE_E2E_REQUIRED=1 makes a skip a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -eq 0 ]; then
  sed -n '2,11p' "$0" | cut -c3-
  exit 2
fi
if ! command -v python3 > /dev/null; then
  echo "SKIPPED  everything: python3 is not installed"
  exit "${REKINDLE_E2E_REQUIRED:-0}"
fi
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --package rekindle
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/debug/rekindle"
fi
exec python3 -B scripts/clients/llm.py --rekindle "$REKINDLE_BIN" "$@"
