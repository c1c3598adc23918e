#!/usr/bin/env bash
# Whole sessions with the real Claude Code, Codex, Gemini CLI and pi against a model on loopback that is none: what was
# said in them has to arrive in the event store exactly once, also when the agent is killed in the middle. Later sessions
# have to be sent what was said: in the same repository only, and after a change with the new value. Our hooks have to
# leave no trace when they go. The agents come from npm into a scratch folder; where that is not possible they are
# skipped, and it says so.
#
#   scripts/clients-e2e.sh                        all agents, all sessions (several minutes)
#   scripts/clients-e2e.sh claude pi              only these
#   scripts/clients-e2e.sh --only killed codex    only this session
#   scripts/clients-e2e.sh --programs DIR         keep the agents there for the next time
#   scripts/clients-e2e.sh --keep                 keep the homes of the sessions, to look at them
#
# REKINDLE_BIN names the program to test (else it is built); REKINDLE_E2E_REQUIRED=1 makes a skip a failure;
# REKINDLE_E2E_PATIENCE=SECONDS waits longer for an answer than 90 s, on a slow machine.
set -euo pipefail
cd "$(dirname "$0")/.."
for tool in npm node python3; do
  if ! command -v "$tool" > /dev/null; then
    echo "SKIPPED  everything: $tool is not installed"
    exit "${REKINDLE_E2E_REQUIRED:-0}"
  fi
done
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --package rekindle
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/debug/rekindle"
fi
exec python3 -B scripts/clients/e2e.py --rekindle "$REKINDLE_BIN" "$@"
