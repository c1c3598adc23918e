"""The model in plain numpy, f32, straight from the published safetensors: what the golden vectors are made with."""

import json
import math
import struct

import numpy as np


def load(path):
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        body = file.read()
    tensors = {}
    for name, info in header.items():
        if name != "__metadata__" and info["dtype"] == "F32":
            low, high = info["data_offsets"]
            tensors[name] = np.frombuffer(body[low:high], dtype="<f4").reshape(info["shape"])
    return tensors


_erf = np.vectorize(math.erf, otypes=[np.float32])


def erf(x):
    return _erf(x.astype(np.float64))


def norm(x, w, prefix):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * w[prefix + ".weight"] + w[prefix + ".bias"]


def plain(x, w, name):
    return x @ w[name + ".weight"].T + w[name + ".bias"]


def embed(w, ids, linear=plain, layers=6, heads=12):
    x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.position_embeddings.weight"][: len(ids)]
    x = norm(x + w["embeddings.token_type_embeddings.weight"][0], w, "embeddings.LayerNorm")
    rows, width = x.shape
    for layer in range(layers):
        p = f"encoder.layer.{layer}."
        q, k, v = (
            linear(x, w, p + "attention.self." + n).reshape(rows, heads, width // heads).transpose(1, 0, 2)
            for n in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 2, 1) / np.float32(math.sqrt(width // heads))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        context = (scores @ v).transpose(1, 0, 2).reshape(rows, width)
        x = norm(linear(context, w, p + "attention.output.dense") + x, w, p + "attention.output.LayerNorm")
        h = linear(x, w, p + "intermediate.dense")
        h = (h * 0.5 * (1 + erf(h / math.sqrt(2)))).astype(np.float32)
        x = norm(linear(h, w, p + "output.dense") + x, w, p + "output.LayerNorm")
    pooled = x.mean(0)
    return pooled / max(np.linalg.norm(pooled), 1e-12)
