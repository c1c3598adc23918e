#!/usr/bin/env bash
# End-to-end tests: whole sessions with the real Claude Code, Codex, Gemini CLI and pi against a stub model on loopback.
# Every message must arrive in the event store exactly once, even if the agent is killed. Later sessions must receive
# what was said, in the same repository only, and after a change only the new value. Uninstalling must remove every trace
# of the hooks. The agents are installed from npm into a scratch folder; an agent that cannot be installed is skipped
# with a message.
#
#   scripts/clients-e2e.sh                        all agents, all sessions (several minutes)
#   scripts/clients-e2e.sh claude pi              only these agents
#   scripts/clients-e2e.sh --only killed codex    only this session
#   scripts/clients-e2e.sh --programs DIR         keep the installed agents in DIR for the next run
#   scripts/clients-e2e.sh --keep                 keep the homes of the sessions for inspection
#
# REKINDLE_BIN names the program to test (by default it is built). REKINDLE_E2E_REQUIRED=1 turns a skip into a failure.
# REKINDLE_E2E_PATIENCE=SECONDS changes the timeout of an answer (90 s), for slow machines.
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
