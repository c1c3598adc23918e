#!/usr/bin/env bash
# Tests `rekindle mcp` with the official inspector of the Model Context Protocol: lists the tools and resources and calls
# every tool, in a home created for it. The inspector is installed from npm into a scratch folder; if that fails, the
# test is skipped with a message.
#
#   scripts/mcp-inspector.sh                 everything
#   scripts/mcp-inspector.sh --programs DIR  keep the inspector in DIR for the next run
#
# REKINDLE_BIN names the program to test (by default it is built). REKINDLE_E2E_REQUIRED=1 turns a skip into a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
PACKAGE=@modelcontextprotocol/inspector
skip() {
  echo "SKIPPED  $1"
  exit "${REKINDLE_E2E_REQUIRED:-0}"
}
for tool in npm node python3; do
  command -v "$tool" > /dev/null || skip "$tool is not installed"
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
programs="$scratch/programs"
if [ "${1:-}" = --programs ]; then
  programs=$2
fi
if [ ! -x "$programs/inspector/node_modules/.bin/mcp-inspector" ]; then
  mkdir -p "$programs/inspector"
  npm install --no-audit --no-fund --loglevel=error --prefix "$programs/inspector" "$PACKAGE" > "$scratch/npm.log" 2>&1 \
    || skip "$PACKAGE cannot be installed here ($(grep -m1 . "$scratch/npm.log" || echo npm failed))"
fi
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --package rekindle
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/debug/rekindle"
fi
REKINDLE_BIN=$(realpath "$REKINDLE_BIN")
mkdir -p "$scratch/home" "$scratch/project"
export HOME="$scratch/home" TMPDIR="$scratch"
cd "$scratch/project"
home="$scratch/rekindle"
rekindle() { "$REKINDLE_BIN" --home "$home" "$@"; }
rekindle init --name Ada > /dev/null
rekindle save decision ledger-port --body 'The ledger database listens on port 7410.' > /dev/null

inspect() {
  timeout 120 "$programs/inspector/node_modules/.bin/mcp-inspector" --cli "$REKINDLE_BIN" --home "$home" mcp "$@"
}
failures=0
# Arguments: a name, the text that the answer must contain, and the call.
check() {
  local name=$1 wanted=$2
  shift 2
  local answer
  answer=$(inspect "$@" 2> "$scratch/stderr") || true
  if grep -q -- "$wanted" <<< "$answer"; then
    echo "ok       $name"
  else
    failures=$((failures + 1))
    echo "FAILED   $name: $answer $(head -c 400 "$scratch/stderr")"
  fi
}
call() {
  local tool=$1 wanted=$2
  shift 2
  local arguments=()
  for argument in "$@"; do
    arguments+=(--tool-arg "$argument")
  done
  check "tools/call $tool" "$wanted" --method tools/call --tool-name "$tool" "${arguments[@]}"
}
check tools/list anthropic/alwaysLoad --method tools/list
check resources/list rekindle://vault/MEMORY.md --method resources/list
check resources/templates/list uriTemplate --method resources/templates/list
check resources/read rekindle-memory- --method resources/read --uri rekindle://vault/MEMORY.md
path=personal-private/decision/ledger-port.md
call recall 7410 query='which port does the ledger database listen on?' k=3
call ask ledger-port.md question='which port does the ledger database listen on?'
call save unreviewed kind=fix slug=valve body='The valve sticks; turn it twice.' 'tags=["pump"]'
call evolve unreviewed ref=personal-private/fix/valve.md body='The valve is new.' reason=replaced
call feedback strength id="$path" verdict=good
call forget "gone: $path" ref="$path"
call note Noted text='The staging host is slow on Mondays.'
call briefing rekindle-memory-
call review_list 'Nothing waits'
call recall '"isError": true' query=x k=99
echo "$failures failed"
exit $((failures > 0))
