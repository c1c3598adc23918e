#!/usr/bin/env bash
# Measures cold recall, in turns with an empty program, an FTS5 query and a tantivy query over the same memories.
# docs/benchmarks.md explains the measurements. Takes a few minutes, most of them for embedding. Exits with 1 if a target is
# missed.
#
#   --full           also 3,000, 10,000 and 100,000 memories (the last with mostly synthetic vectors), and a plot of growth
#   --computed       compute the vectors of the 100,000 memories too (half an hour more on two processors)
#   --synthetic      also 300,000 and 1,000,000 memories with synthetic vectors
#   --keep DIR       keep corpora and indexes in DIR, and reuse those of an earlier run
#   --out DIR        folder for recall.md, recall.json and growth.svg (target/bench-recall)
#   --rounds N       number of runs of each program (200)
#   --sizes A,B      sizes to use instead of 1,000 and 20,000
#   --onnx FOLDER    also embed with onnxruntime; create FOLDER with `models/make.sh --keep FOLDER`
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
sizes=1000,20000
made_up=
computed=
work=
out="$target/bench-recall"
more=()
while [ $# -gt 0 ]; do
  case "$1" in
    --full) sizes=1000,3000,10000,20000; made_up=100000; more+=(--plot) ;;
    --computed) computed=1 ;;
    --synthetic) more+=(--synthetic 300000,1000000) ;;
    --keep) work="$2"; shift ;;
    --out) out="$2"; shift ;;
    --sizes) sizes="$2"; shift ;;
    --rounds) more+=(--rounds "$2"); shift ;;
    --onnx) more+=(--onnx "$(cd "$2" && pwd)"); shift ;;
    *) sed -n 's/^# \{0,1\}//p' "$0" | sed 1d; exit 2 ;;
  esac
  shift
done
[ -z "$computed" ] || { sizes="$sizes${made_up:+,$made_up}"; made_up=; }
[ -z "$made_up" ] || more+=(--made-up "$made_up")
cargo build --release --package rekindle --bin rekindle
# One command, because cargo selects the features of the dependencies for each command anew.
cargo build --release --package rekindle-testkit --package rekindle-embed --package rekindle-engine \
  --example empty --example bulk --example synthetic_vectors --example hook_log_line
cargo build --release --locked --manifest-path bench/Cargo.toml --target-dir "$target/bench"
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" "$out"
real() { (cd "$1" && pwd); }
# Copy the binary, as an installation does: the page cache holds a file written by a linker in small pieces.
programs="$(real "$work")/programs"
rm -rf "$programs" && mkdir "$programs"
cp "$target/release/rekindle" "$target"/release/examples/{empty,bulk,synthetic_vectors,hook_log_line} \
  "$target"/bench/release/{measure,corpus,fts5,tantivy_bm25} "$programs"
# The page cache may hold an index of an earlier run in small pieces, because the system reclaims idle pages. Dropping it
# from the cache makes the next read use large pages, as after a reboot. The same goes for FTS5's file. GNU `dd` can do it.
find "$work" \( -name '*.base' -o -name fts5.db \) -exec dd if={} iflag=nocache count=0 status=none \; 2>/dev/null || true
recall_rc=0 hook_rc=0
"$programs/measure" --empty "$programs/empty" --bulk "$programs/bulk" --rekindle "$programs/rekindle" \
  --work "$(real "$work")" --out "$(real "$out")" \
  --sizes "$sizes" ${more[@]+"${more[@]}"} || recall_rc=$?
# Measures the hook on typed prompts, with about 80 memories and with the sizes above, and what telemetry costs it.
python3 bench/hook.py "$programs/rekindle" "$programs/empty" --sizes "80,$sizes" --log-line "$programs/hook_log_line" \
  --out "$out/hook.md" || hook_rc=$?
echo
echo "written: $out"
[ "$recall_rc" = 0 ] || echo 'MISSED: recall is above a target; see the lines above' >&2
[ "$hook_rc" = 0 ] || echo 'MISSED: the hook is above a target; see the lines above' >&2
exit "$((recall_rc != 0 || hook_rc != 0))"
