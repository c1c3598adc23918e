#!/usr/bin/env bash
# Measures time, memory and disk of `rekindle backfill` on generated sessions of one megabyte each (DIS-01, B-14), then
# the cost of their messages for a cold `rekindle recall`, compared to a store without messages. Fails above ten minutes
# per thousand sessions or above 200 MB. SESSIONS sets the number of sessions (1000); each needs a megabyte of scratch
# space.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --quiet --release --package rekindle
rekindle="$(realpath "${CARGO_TARGET_DIR:-target}/release/rekindle")"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export HOME="$scratch/home" REKINDLE_HOME="$scratch/rekindle"
sessions="${SESSIONS:-1000}"

echo "making $sessions sessions"
python3 scripts/make-sessions.py "$sessions" "$HOME"
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
echo "backfill: $seconds s, peak memory $((peak / 1024)) MB, $(du -sm "$REKINDLE_HOME/state" | cut -f1) MB of state"

cold() { # what, then a question: the median of 21 cold answers
  local times=()
  for _ in $(seq 21); do
    local from=$EPOCHREALTIME
    "$rekindle" recall "$2" --project all --json >/dev/null 2>&1
    times+=($(awk "BEGIN { printf \"%.1f\", ($EPOCHREALTIME - $from) * 1000 }"))
  done
  echo "$1: $(printf '%s\n' "${times[@]}" | sort -n | sed -n 11p) ms"
}
cold "recall, a rare word" "when is the harbour crane greased"
cold "recall, the commonest words" "the tests of the login"
mv "$REKINDLE_HOME/state/messages" "$scratch/messages"
cold "recall, no messages" "when is the harbour crane greased"
awk "BEGIN { exit !($seconds * 1000 / $sessions <= 600) }" || { echo "that took too long"; exit 1; }
[ "$((peak / 1024))" -le 200 ] || { echo "that took too much memory"; exit 1; }
