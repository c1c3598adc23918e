#!/usr/bin/env bash
# Looks at `rekindle web` in a real headless Chromium: every page in light and dark and at a phone's width, with axe-core,
# errors of the script and of the content policy; everything by keyboard alone; decisions in the terminal and in REVIEW.md
# while the page is open; and what other sites try.
#
#   scripts/web-browser.sh                  check a page with the memories of a few made-up sessions
#   scripts/web-browser.sh --shots DIR      also write a picture of every page to DIR
#   scripts/web-browser.sh --docs DIR       only write the pictures of the documentation to DIR (docs/pictures)
#   scripts/web-browser.sh --programs DIR   keep axe-core in DIR for the next run
#
# REKINDLE_BIN names the program to test (by default it is built). Skipped with a message where no Chromium is installed,
# and without axe-core where npm cannot install it; REKINDLE_E2E_REQUIRED=1 turns either into a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
AXE=axe-core@4
skip() {
  echo "SKIPPED  $1"
  exit "${REKINDLE_E2E_REQUIRED:-0}"
}
for tool in python3 script; do
  command -v "$tool" > /dev/null || skip "$tool is not installed"
done
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || skip "no Chromium is installed (apt-get install chromium)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
programs="$scratch/programs"
if [ "${1:-}" = --programs ]; then
  programs=$(realpath -m "$2")
  shift 2
fi
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --workspace
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/debug/rekindle"
fi
axe="$programs/axe/node_modules/axe-core/axe.min.js"
if [ ! -f "$axe" ]; then
  mkdir -p "$programs/axe"
  npm install --no-audit --no-fund --loglevel=error --prefix "$programs/axe" "$AXE" > "$scratch/npm.log" 2>&1 || true
fi
if [ ! -f "$axe" ]; then
  [ -z "${REKINDLE_E2E_REQUIRED:-}" ] || skip "$AXE cannot be installed here"
  echo "WITHOUT  $AXE, which npm cannot install here ($(grep -m1 . "$scratch/npm.log" || echo npm failed))"
fi
python3 scripts/web/browser.py "$(realpath "$REKINDLE_BIN")" "$browser" ${axe:+$([ -f "$axe" ] && echo --axe "$axe")} "$@"
