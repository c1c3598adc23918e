#!/usr/bin/env bash
# Measures the time and the additional memory of observing generated transcripts of 10 and 100 MB with the offline rules,
# then one message of 30 MB. Fails if 10 MB take 2 s, if ten times the transcript takes more than fifteen times as long,
# or if either needs more than 16 MB. Takes about a minute and 150 MB of scratch space.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${PROFILE:-release}
if [ "$profile" = release ]; then flag=--release; else flag=; fi
cargo build --quiet $flag --package rekindle-engine --example transcripts --example observations
tools="${CARGO_TARGET_DIR:-target}/$profile/examples"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

timed() { # AGENT: observes the scratch transcript, prints, leaves $seconds and $more (kB)
  local said
  said=$("$tools/observations" time "$1" "$scratch/t.jsonl")
  echo "$said"
  seconds=$(sed -E 's/.* in ([0-9.]+) s.*/\1/' <<<"$said")
  more=$(sed -E 's/.* ([0-9]+) more kB.*/\1/' <<<"$said")
  if [ "$more" -gt 16384 ]; then echo "that is too much memory"; exit 1; fi
}

for agent in claude codex gemini pi; do
  "$tools/transcripts" make "$agent" 10 "$scratch/t.jsonl"
  timed "$agent"
  small=$seconds
  if awk "BEGIN { exit !($seconds >= 2) }"; then echo "that is too slow"; exit 1; fi
  "$tools/transcripts" make "$agent" 100 "$scratch/t.jsonl"
  timed "$agent"
  if awk "BEGIN { exit !($seconds > 15 * ($small + 0.05)) }"; then echo "time grows faster than the transcript"; exit 1; fi
done

# A pasted line of 30 MB.
{
  printf '{"parentUuid":null,"type":"user","uuid":"a","timestamp":"2026-11-15T09:00:00Z","message":{"role":"user","content":"'
  head -c 30000000 /dev/zero | tr '\0' 'a'
  printf '"}}\n{"parentUuid":"a","type":"assistant","uuid":"b","timestamp":"2026-11-15T09:01:00Z","message":{"role":"assistant","content":"Seen."}}\n'
} >"$scratch/t.jsonl"
timed claude
