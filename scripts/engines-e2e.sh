#!/usr/bin/env bash
# Tests shared state with a real Redis server: the contract tests, and then three homes that share through one server with
# TLS and a password. The server comes from the PATH, or from the packages of Debian, unpacked into a scratch folder.
# Without either, the test is skipped with a message.
#
#   scripts/engines-e2e.sh                 everything
#   scripts/engines-e2e.sh --programs DIR  keep the server in DIR for the next run
#
# REKINDLE_BIN names the program to test (by default it is built). REKINDLE_E2E_REQUIRED=1 turns a skip into a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
skip() {
  echo "SKIPPED  $1"
  exit "${REKINDLE_E2E_REQUIRED:-0}"
}
scratch=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then
    kill "$server" 2> /dev/null || true
    wait "$server" 2> /dev/null || true
  fi
  rm -rf "$scratch"
}
trap stop EXIT
programs="$scratch/programs"
if [ "${1:-}" = --programs ]; then
  programs=$(realpath --canonicalize-missing "$2")
fi
if ! command -v redis-server > /dev/null; then
  if [ ! -x "$programs/usr/bin/redis-server" ]; then
    command -v apt-get > /dev/null && command -v dpkg > /dev/null || skip "redis-server is not installed"
    mkdir -p "$programs/packages"
    # Unpacked, not installed: no service starts, and nothing of the system changes.
    (cd "$programs/packages" && apt-get download redis-server redis-tools libjemalloc2 liblzf1 libatomic1 liblua5.1-0 \
      libhiredis0.14 lua-bitop lua-cjson > "$scratch/apt.log" 2>&1) || skip "redis-server cannot be downloaded here"
    for package in "$programs"/packages/*.deb; do
      dpkg -x "$package" "$programs"
    done
  fi
  export PATH="$programs/usr/bin:$PATH"
  libraries=$(find "$programs/usr/lib" -name 'libjemalloc.so*' -printf '%h\n' | head -n 1)
  export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
redis-server --version > /dev/null || skip "redis-server does not start"

# The simulation of three machines: 17 times 120 steps.
REKINDLE_E2E_REQUIRED=1 REKINDLE_MODEL_SEEDS=17 cargo test --quiet --workspace --lib -- jobs::shared:: stages::share:: pipeline::observations
if [ -z "${REKINDLE_BIN:-}" ]; then
  cargo build --quiet --workspace --bin rekindle
  REKINDLE_BIN="${CARGO_TARGET_DIR:-target}/debug/rekindle"
fi
REKINDLE_BIN=$(realpath "$REKINDLE_BIN")

free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
command -v openssl > /dev/null && command -v python3 > /dev/null || skip "openssl or python3 is not installed"
port=$(free_port)
openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj "/CN=localhost" -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" \
  -addext "basicConstraints=critical,CA:FALSE" -keyout "$scratch/key.pem" -out "$scratch/cert.pem" 2> "$scratch/openssl.log"
redis-server --bind 127.0.0.1 --port 0 --tls-port "$port" --tls-cert-file "$scratch/cert.pem" \
  --tls-key-file "$scratch/key.pem" --tls-auth-clients no --requirepass swordfish --save "" --appendonly yes \
  --dir "$scratch" > "$scratch/redis.log" 2>&1 &
server=$!
export SSL_CERT_FILE="$scratch/cert.pem"

export HOME="$scratch/home" TMPDIR="$scratch"
mkdir -p "$HOME" "$scratch/project"
cd "$scratch/project"
for _ in $(seq 50); do
  (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> /dev/null && break
  sleep 0.1
done
failed=0
check() {
  local what=$1
  shift
  if "$@" > "$scratch/check.log" 2>&1; then
    echo "ok      $what"
  else
    echo "FAILED  $what"
    sed 's/^/        /' "$scratch/check.log"
    failed=1
  fi
}
on() {
  local name=$1
  shift
  timeout 60 "$REKINDLE_BIN" --home "$scratch/$name" "$@"
}
# True if the command says the words, whatever its exit code.
says() {
  local words=$1
  shift
  "$@" > "$scratch/said.log" 2>&1 || true
  cat "$scratch/said.log"
  grep -qF -- "$words" "$scratch/said.log"
}
hides() { ! says "$@"; }
absent() { ! grep -rqF -- "$@"; }
for name in one two three; do
  on "$name" init --name Ada > /dev/null
  on "$name" config set capture.background false > /dev/null
  on "$name" config set engines.redis.url "rediss://localhost:$port/0" > /dev/null
  on "$name" config set engines.shared redis > /dev/null
done
check "without the password, a sentence says so" says "refused the password in REDIS_PASSWORD" on one engines --check
export REDIS_PASSWORD=swordfish
check "TLS and the password work" says "answers: Redis" on one engines --check
transcript="$scratch/session.jsonl"
cat > "$transcript" << JSON
{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s1","cwd":"$scratch/project","timestamp":"$(date -u +%FT%TZ)","message":{"role":"user","content":"Always run the linter before a push."}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","sessionId":"s1","cwd":"$scratch/project","timestamp":"$(date -u +%FT%TZ)","message":{"role":"assistant","content":[{"type":"text","text":"I will."}]}}
JSON
printf '{"session_id":"s1","transcript_path":"%s","cwd":"%s","hook_event_name":"SessionEnd","reason":"exit"}' \
  "$transcript" "$scratch/project" | on one hook claude SessionEnd > /dev/null
check "a worker learns and shares" on one worker --once
check "another machine has the observation" says "Received 1 observation" on two engines share
check "and only once" says "Received 0 observations" on two engines share
check "doctor knows the server" says "rediss://localhost:$port/0: Redis" on two doctor --all
check "the password is in no file" absent swordfish "$scratch/one" "$scratch/two" "$scratch/three"
check "and in no output" hides swordfish on two engines --check --json
kill -9 "$server"
wait "$server" 2> /dev/null || true
server=
check "away, it is a sentence" says "cannot be reached" on two engines share
check "away, memories are saved" on two save "Tabs are four wide."
check "away, memories are recalled" says "four wide" on two recall "how wide are tabs"
exit "$failed"
