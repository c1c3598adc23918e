#!/usr/bin/env bash
# Looks at `rekindle web` in a real headless Chromium: every page in light and dark and at a phone's width, errors of the
# script and of the content policy, names, labels and contrast for assistive technology, and a decision by keyboard alone.
#
#   scripts/web-browser.sh               check a page with a small memory of its own
#   scripts/web-browser.sh --shots DIR   also write a picture of every page to DIR
#
# REKINDLE_BIN names the program to test (by default it is built). Skipped with a message where no Chromium is installed;
# REKINDLE_E2E_REQUIRED=1 turns a skip into a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
  echo "SKIPPED  $1"
  exit "${REKINDLE_E2E_REQUIRED:-0}"
}
for tool in python3 script; do
  command -v "$tool" > /dev/null || skip "$tool is not installed"
done
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || skip "no Chromium is installed (apt-get install chromium)"
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --workspace
  REKINDLE_BIN=$PWD/target/debug/rekindle
fi
exec python3 scripts/web/browser.py "$REKINDLE_BIN" "$browser" "$@"
