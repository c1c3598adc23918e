#!/usr/bin/env bash
# Backfills about a gigabyte of made-up transcripts of all four agents, without a model (DIS-01, B-14): how long, in how much
# memory, how much disk; then what the messages cost a cold `rekindle recall`, beside one that has none. Fails if the
# backfill takes more than five minutes. About three minutes and 2 GB of scratch space.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release --package rekindle
cargo build --quiet --release --package rekindle-engine --example transcripts
target="${CARGO_TARGET_DIR:-target}/release"
tool="$target/examples/transcripts"
rekindle="$(realpath "$target/rekindle")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME="$scratch/home" REKINDLE_HOME="$scratch/rekindle"
mkdir -p "$HOME"/.claude/projects/p "$HOME"/.codex/sessions/2026/01/01 "$HOME"/.gemini/tmp/p/chats "$HOME"/.pi/agent/sessions/p

echo "making transcripts"
for number in $(seq 1 "${SESSIONS:-25}"); do
  session=$(printf '00000000-0000-4000-8000-%012d' "$number")
  "$tool" make claude 10 "$HOME/.claude/projects/p/$session.jsonl" "$session"
  "$tool" make codex 10 "$HOME/.codex/sessions/2026/01/01/rollout-2026-01-01T10-00-00-$session.jsonl" "$session"
  "$tool" make gemini 10 "$HOME/.gemini/tmp/p/chats/session-$session.jsonl" "$session"
  "$tool" make pi 10 "$HOME/.pi/agent/sessions/p/$session.jsonl" "$session"
done
du -sh "$HOME" | cut -f1

"$rekindle" init </dev/null >/dev/null 2>&1
"$rekindle" save fix harbour --body 'The harbour crane is greased on Mondays.' >/dev/null
began=$(date +%s.%N)
"$rekindle" backfill --yes --json >"$scratch/report.json" &
backfill=$!
peak=0
while kill -0 "$backfill" 2>/dev/null; do
  now=$(grep -s VmHWM "/proc/$backfill/status" | tr -dc 0-9 || true)
  if [ "${now:-0}" -gt "$peak" ]; then peak=$now; fi
  sleep 0.2
done
wait "$backfill"
ended=$(date +%s.%N)
grep -E '"(messages|added|found)"' "$scratch/report.json"
seconds=$(awk "BEGIN { printf \"%.1f\", $ended - $began }")
echo "backfill: $seconds s, peak memory $((peak / 1024)) MB, $(du -sm "$REKINDLE_HOME/state/messages" | cut -f1) MB on disk"

cold() { # what, then a question: the median of 21 cold answers
  local times=()
  for _ in $(seq 21); do
    local from=$EPOCHREALTIME
    "$rekindle" recall "$2" --project all --json >/dev/null 2>&1
    times+=($(awk "BEGIN { printf \"%.1f\", ($EPOCHREALTIME - $from) * 1000 }"))
  done
  echo "$1: $(printf '%s\n' "${times[@]}" | sort -n | sed -n 11p) ms"
}
cold "recall, a rare word" "renmi gormi of the crane"
cold "recall, the commonest words" "kato toto mito"
mv "$REKINDLE_HOME/state/messages" "$scratch/messages"
cold "recall, no messages" "renmi gormi of the crane"
awk "BEGIN { exit !($seconds <= 300) }" || { echo "that took too long"; exit 1; }
