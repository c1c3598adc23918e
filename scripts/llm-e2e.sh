#!/usr/bin/env bash
# End-to-end tests of the language model providers: `openai` with a small real model in a server on loopback, and
# `command` with the real Claude Code, Codex, Gemini CLI and pi against a stub model on loopback. Apart from the
# downloads, nothing leaves the machine. Whatever cannot be installed is skipped with a message.
#
#   scripts/llm-e2e.sh FOLDER                     both; FOLDER keeps the downloads (1.2 GB)
#   scripts/llm-e2e.sh FOLDER --only server       only the model in a server
#   scripts/llm-e2e.sh FOLDER --only programs     only the agents
#
# REKINDLE_BIN names the program to test (by default it is built). REKINDLE_E2E_REQUIRED=1 turns a skip into a failure.
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
