#!/usr/bin/env bash
# Measures time and memory of parsing generated transcripts of 50 and 500 MB of every agent, and one with a single line
# of 200 MB (FND-06: flat memory). Fails if ten times the transcript takes 8 MB more memory, or if any parse takes more
# than 128 MB. Takes about two minutes and 600 MB of scratch space.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release --package rekindle-engine --example transcripts
tool="${CARGO_TARGET_DIR:-target}/release/examples/transcripts"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

timed() { # AGENT: reads the scratch transcript, prints, leaves the peak in $peak (kB)
  local said
  said=$("$tool" time "$1" "$scratch/t.jsonl")
  echo "$said"
  peak=$(grep -o '[0-9]* kB' <<<"$said" | cut -d' ' -f1)
  if [ "$peak" -gt 131072 ]; then echo "that is too much memory"; exit 1; fi
}

for agent in claude codex gemini pi; do
  "$tool" make "$agent" 50 "$scratch/t.jsonl"
  timed "$agent"
  small=$peak
  "$tool" make "$agent" 500 "$scratch/t.jsonl"
  timed "$agent"
  if [ "$peak" -gt $((small + 8192)) ]; then echo "memory grows with the transcript"; exit 1; fi
done

# A pasted picture: one line of 200 MB in the middle of a conversation.
"$tool" make claude 1 "$scratch/t.jsonl"
last=$(tail -n 1 "$scratch/t.jsonl" | grep -o '"uuid":"[^"]*"')
{
  printf '{"parentUuid":%s,"type":"user","uuid":"picture","message":{"role":"user","content":[{"type":"image","data":"' "${last#*:}"
  head -c 200000000 /dev/zero | tr '\0' 'A'
  printf '"}]}}\n{"parentUuid":"picture","type":"assistant","uuid":"seen","message":{"role":"assistant","content":"Seen."}}\n'
} >>"$scratch/t.jsonl"
timed claude
