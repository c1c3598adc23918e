#!/usr/bin/env bash
# Embeds memories like those of the benchmark with onnxruntime (f32, two threads), for comparison with
# `cargo bench --package rekindle-embed`. Usage: scripts/embed-onnx.sh FOLDER [TEXTS]. Create FOLDER with
# `models/make.sh --keep FOLDER`; TEXTS is a file of JSON lines with a `text` each, as scripts/bench-recall.sh writes.
# For developers only. Without network or Python, it skips with a message.
set -euo pipefail
[ $# = 1 ] || [ $# = 2 ] || { echo "usage: $0 FOLDER (with model.safetensors and tokenizer.json) [TEXTS]"; exit 2; }
folder=$(cd "$1" && pwd)
texts="${2:-}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet numpy==2.4.6 tokenizers==0.23.3 onnx onnxruntime ||
  { echo "skipped: the packages cannot be installed"; exit 0; }
cat >"$work/run.py" <<'PYTHON'
import json, random, statistics, struct, sys, time
import numpy as np, onnx, onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

folder = sys.argv[1]
with open(f"{folder}/model.safetensors", "rb") as file:
    table = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    body = file.read()
tensors = {
    name: np.frombuffer(body[slice(*info["data_offsets"])], "<f4").reshape(info["shape"])
    for name, info in table.items()
    if name != "__metadata__" and info["dtype"] == "F32"
}
nodes, constants = [], {}


def constant(name, value):
    constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
    return name


def op(kind, *inputs, **attributes):
    out = f"t{len(nodes)}"
    nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
    return out


def norm(x, name):
    weight, bias = (constant(f"{name}.{part}", tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
    return op("LayerNormalization", x, weight, bias, axis=-1, epsilon=1e-12)


def linear(x, name):
    weight = constant(f"{name}.weight", tensors[f"{name}.weight"].T)
    return op("Add", op("MatMul", x, weight), constant(f"{name}.bias", tensors[f"{name}.bias"]))


split = constant("split", np.array([0, 0, 12, 32], np.int64))
join = constant("join", np.array([0, 0, 384], np.int64))
root = constant("root", np.float32(32**-0.5))
words = op("Gather", constant("words", tensors["embeddings.word_embeddings.weight"]), "ids")
places = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
x = norm(op("Add", words, op("Gather", constant("places", places), "positions")), "embeddings.LayerNorm")
for layer in range(6):
    p = f"encoder.layer.{layer}."
    q, k, v = (op("Reshape", linear(x, p + f"attention.self.{n}"), split) for n in ("query", "key", "value"))
    q, k, v = op("Transpose", q, perm=[0, 2, 1, 3]), op("Transpose", k, perm=[0, 2, 3, 1]), op("Transpose", v, perm=[0, 2, 1, 3])
    scores = op("Softmax", op("Add", op("Mul", op("MatMul", q, k), root), "mask"), axis=-1)
    context = op("Reshape", op("Transpose", op("MatMul", scores, v), perm=[0, 2, 1, 3]), join)
    x = norm(op("Add", linear(context, p + "attention.output.dense"), x), p + "attention.output.LayerNorm")
    h = op("Gelu", linear(x, p + "intermediate.dense"))
    x = norm(op("Add", linear(h, p + "output.dense"), x), p + "output.LayerNorm")
nodes.append(helper.make_node("Identity", [x], ["out"]))
value = helper.make_tensor_value_info
graph = helper.make_graph(
    nodes,
    "minilm",
    [value("ids", TensorProto.INT64, ["b", "n"]), value("positions", TensorProto.INT64, ["n"]),
     value("mask", TensorProto.FLOAT, ["b", 1, 1, "n"])],
    [value("out", TensorProto.FLOAT, ["b", "n", 384])],
    list(constants.values()),
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 2
session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
tokenizer = Tokenizer.from_file(f"{folder}/tokenizer.json")
tokenizer.no_padding()
tokenizer.enable_truncation(256)


def embed(texts):
    ids = [encoding.ids for encoding in tokenizer.encode_batch(texts)]
    n = max(map(len, ids))
    padded = np.array([row + [0] * (n - len(row)) for row in ids], np.int64)
    mask = (np.arange(n) < np.array([[len(row)] for row in ids])).astype(np.float32)
    out = session.run(None, {"ids": padded, "positions": np.arange(n), "mask": ((1 - mask) * -1e9)[:, None, None, :]})[0]
    pooled = (out * mask[:, :, None]).sum(1)
    return pooled / np.linalg.norm(pooled, axis=1, keepdims=True)


rng = random.Random(11)
vocabulary = """the a to of and we in it that was on for with because not when after before index memory backup
server database release test branch deploy login token cache config timeout error retry queue worker lock file
parser customer invoice meeting decided learned remember prefers fixed broke moved slow fast twice nightly
weekly monday friday region staging production certificate rollback migration schema vector query latency""".split()
texts = [" ".join(rng.choice(vocabulary) for _ in range(rng.randint(60, 120))) for _ in range(200)]
if sys.argv[2]:
    with open(sys.argv[2]) as lines:
        texts = [json.loads(line)["text"] for line in lines][:200]
texts.sort(key=len)
print("onnxruntime", onnxruntime.__version__, "f32, two threads, texts sorted by length")
for batch in (1, 8, 16):
    started = time.time()
    for start in range(0, len(texts), batch):
        embed(texts[start : start + batch])
    print(f"  batches of {batch:2}: {len(texts) / (time.time() - started):.0f} memories/s")
times = []
for _ in range(100):
    started = time.perf_counter()
    embed(["why did the nightly backup of the staging database fail after the upgrade last tuesday evening"])
    times.append(time.perf_counter() - started)
print(f"  one question, warm: {statistics.median(times) * 1e3:.1f} ms")
PYTHON
"$work/venv/bin/python" "$work/run.py" "$folder" "$texts"
