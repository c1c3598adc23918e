#!/usr/bin/env bash
# How fast recall is, cold, in turns with an empty program and one FTS5 query over the same memories.
# docs/benchmarks.md says what is measured and how to read it. A few minutes; most of it is embedding.
#
#   --full           also 3,000, 10,000 and, most of its vectors made up, 100,000 memories, and a plot of growth
#   --computed       the vectors of the 100,000 are computed as well (half an hour more on two processors)
#   --synthetic      also 300,000 and 1,000,000, whose vectors are made up
#   --keep DIR       keep corpora and indexes there, and use what an earlier run left
#   --out DIR        where recall.md, recall.json and growth.svg go (target/bench-recall)
#   --rounds N       how often each program runs (200)
#   --sizes A,B      other sizes than 1,000 and 20,000
#   --onnx FOLDER    also embed with onnxruntime; FOLDER is made by `models/make.sh --keep FOLDER`
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
cargo build --release --package rekindle-testkit --example empty
cargo build --release --package rekindle-embed --example bulk
cargo build --release --package rekindle-engine --example synthetic_vectors
cargo build --release --locked --manifest-path bench/Cargo.toml --target-dir "$target/bench"
if [ -z "$work" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
mkdir -p "$work" "$out"
real() { (cd "$1" && pwd); }
# As installed: a copy. What a linker wrote lies in memory in small pieces.
programs="$(real "$work")/programs"
rm -rf "$programs" && mkdir "$programs"
cp "$target/release/rekindle" "$target/release/examples/empty" "$target/release/examples/bulk" "$target/release/examples/synthetic_vectors" \
  "$target"/bench/release/{measure,corpus,fts5} "$programs"
# An index that an earlier run left may lie in memory in small pieces by now, where a system takes back what lies idle. Let go
# of, it is read again in large ones, as after a start of the computer; so is FTS5's file. GNU's `dd` knows how.
find "$work" \( -name '*.base' -o -name fts5.db \) -exec dd if={} iflag=nocache count=0 status=none \; 2>/dev/null || true
hook_rc=0
"$programs/measure" --empty "$programs/empty" --bulk "$programs/bulk" --rekindle "$programs/rekindle" \
  --work "$(real "$work")" --out "$(real "$out")" \
  --sizes "$sizes" ${more[@]+"${more[@]}"}
# The hook on typed prompts, at about 80 memories and at the sizes above.
python3 bench/hook.py "$programs/rekindle" "$programs/empty" --sizes "80,$sizes" --out "$out/hook.md" || hook_rc=$?
echo
echo "written: $out"
exit "$hook_rc"
