#!/usr/bin/env bash
# Tests the export of events with a real OpenTelemetry collector (rotel, from PyPI, in a scratch folder): a session is
# learnt from, and every event must arrive as a log record, a span and a metric. If the collector cannot be installed,
# the test is skipped with a message.
#
#   scripts/otlp-e2e.sh                 everything
#   scripts/otlp-e2e.sh --programs DIR  keep the collector in DIR for the next run
#
# REKINDLE_BIN names the program to test (by default it is built). REKINDLE_E2E_REQUIRED=1 turns a skip into a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
  echo "SKIPPED  $1"
  exit "${REKINDLE_E2E_REQUIRED:-0}"
}
command -v python3 > /dev/null || skip "python3 is not installed"
scratch=$(mktemp -d)
collector=
stop() {
  if [ -n "$collector" ]; then
    kill "$collector" 2> /dev/null || true
    wait "$collector" 2> /dev/null || true
  fi
  rm -rf "$scratch"
}
trap stop EXIT
programs="$scratch/programs"
if [ "${1:-}" = --programs ]; then
  programs=$2
fi
agent=$(find "$programs/rotel" -name rotel-agent -type f 2> /dev/null | head -n 1 || true)
if [ -z "$agent" ]; then
  mkdir -p "$programs"
  { python3 -m venv "$programs/rotel" && "$programs/rotel/bin/pip" install --quiet rotel; } > "$scratch/pip.log" 2>&1 \
    || skip "rotel cannot be installed here ($(tail -n 1 "$scratch/pip.log"))"
  agent=$(find "$programs/rotel" -name rotel-agent -type f | head -n 1)
fi
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --package rekindle
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/debug/rekindle"
fi
REKINDLE_BIN=$(realpath "$REKINDLE_BIN")

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
http=$(free_port)
"$agent" start --exporter blackhole --debug-log logs --debug-log traces --debug-log metrics \
  --debug-log-verbosity detailed --otlp-http-endpoint "127.0.0.1:$http" \
  --otlp-grpc-endpoint "127.0.0.1:$(free_port)" --pid-file "$scratch/rotel.pid" --log-file "$scratch/rotel.log" \
  > "$scratch/collector.out" 2>&1 &
collector=$!
for _ in $(seq 50); do
  (exec 3<> "/dev/tcp/127.0.0.1/$http") 2> /dev/null && break
  sleep 0.1
done

export HOME="$scratch/home" TMPDIR="$scratch"
mkdir -p "$HOME" "$scratch/project"
cd "$scratch/project"
rekindle() { "$REKINDLE_BIN" --home "$scratch/rekindle" "$@"; }
rekindle init --name Ada > /dev/null
rekindle config set capture.background false > /dev/null
rekindle config set telemetry.otlp.url "http://127.0.0.1:$http" > /dev/null
rekindle config set telemetry.otlp.enabled true > /dev/null
transcript="$scratch/session.jsonl"
cat > "$transcript" << JSON
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","cwd":"$scratch/project","timestamp":"2026-11-18T10:00:00Z","message":{"role":"user","content":"Always run the linter before a push."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","cwd":"$scratch/project","timestamp":"2026-11-18T10:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"I will."}]}}
JSON
printf '{"session_id":"s1","transcript_path":"%s","cwd":"%s","hook_event_name":"SessionEnd","reason":"exit"}' \
  "$transcript" "$scratch/project" | rekindle hook claude SessionEnd > /dev/null
rekindle worker --once > /dev/null
rekindle recall "what about the linter" > /dev/null || true
sent=$(rekindle otel export --json)
events=$(rekindle otel list --json | wc -l)
sleep 1

python3 - "$scratch/collector.out" "$events" "$sent" << 'PYTHON'
import json, re, sys
received, events, sent = open(sys.argv[1]).read(), int(sys.argv[2]), json.loads(sys.argv[3])
received = re.sub(r"\x1b\[[0-9;]*m", "", received)
failures = []
def check(ok, what):
    print(f"{'ok      ' if ok else 'FAILED  '}{what}")
    if not ok:
        failures.append(what)
check(sent["waiting"] == 0, f"the collector took every event ({events})")
for name in ["hook.completed", "capture.completed", "observe.completed", "worker.completed", "recall.completed"]:
    check(name in received, f"a log record {name}")
for name in ["rekindle.stage.ends", "rekindle.stage.duration"]:
    check(name in received, f"a metric {name}")
check(received.count("EventName: ") == events, f"{events} log records")
check(received.count("Span #") >= 4, "a span for each end of a stage")
check("linter" not in received.lower(), "no word of the session")
sys.exit(1 if failures else 0)
PYTHON
