#!/usr/bin/env python3
"""Trains the cross-encoder: does a passage of a memory help with a prompt?

Usage: train_cross_encoder.py INPUTS OUT [--layers 4] [--passage 64] [--epochs 4] [--teacher-epochs 3] [--eval DIR]
       train_cross_encoder.py --shrink GTE_ONNX INPUTS

INPUTS is a folder with tokenizer.json of all-MiniLM-L6-v2 (`models/make.sh --keep`) and gte.npz, which --shrink writes from
gte-small in ONNX. The token embeddings and layers of all-MiniLM-L6-v2 come from all-minilm-l6-v2.rkm beside this file, the
training data from pairs.jsonl and named-pairs.jsonl (or the same with .gz). OUT is a safetensors file for
`cargo run -p rekindle-embed --example pack_cross_encoder`.

Training has two steps. A teacher of twelve layers reads whole memories. A student of a few layers, initialised from some of
the teacher's, learns from the labels and the teacher's odds, and reads one window of a memory. Needs torch, tokenizers,
safetensors and numpy; about five minutes on a large GPU.
"""
import argparse
import gzip
import hashlib
import json
import pathlib
import random
import re
import time
from collections import defaultdict

import numpy as np

from packed_model import PackedModel

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEADS, INNER, WORDS = 384, 12, 1536, 30522
CLS, SEP = 101, 102
GTE_SHA256 = "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"
# MiniLM has every second layer of the model that gte-small was grown from. This share of them fits gte's layers to MiniLM's
# token embeddings.
BLEND = 0.3
# The prompt length in crates/embed/src/cross_encoder.rs, and the teacher's.
PROMPT, TEACHER_PASSAGE = 40, 120
# Positions that the student's file keeps: prompt, passage and three marks fit.
POSITIONS = 256
PARTS = {"context": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
         "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"}
SELF = [f"attention.self.{part}" for part in ("query", "key", "value")]
SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")
# Names as code writes them, for swapping modules, flags and numbers.
NAME = re.compile(r"`[^`]+`|\b[A-Za-z]+(?:[-_.][A-Za-z0-9]+)+\b|\b[a-z]+[A-Z]\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b|\b[A-Z]{2,}\b")


def shrink(onnx_path, folder):
    """Writes gte-small's layers with eight bits per weight, small enough to copy to another machine."""
    import onnx
    data = onnx_path.read_bytes()
    assert hashlib.sha256(data).hexdigest() == GTE_SHA256, f"{onnx_path} is another gte-small than this was written for"
    graph = onnx.load(str(onnx_path)).graph
    tensors = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    # A matrix has no name in ONNX, but the bias added after it has.
    added = {node.input[side]: node for node in graph.node if node.op_type == "Add" for side in (0, 1)}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in tensors:
            bias = next(name for name in added[node.output[0]].input if name in tensors)
            tensors[bias.replace(".bias", ".weight")] = tensors[node.input[1]].T
    small = {}
    for name, value in tensors.items():
        if not name.startswith("encoder."):
            continue
        if value.ndim == 2:
            scale = np.abs(value).max(1, keepdims=True) / 127
            small[name + ".q"], small[name + ".s"] = np.round(value / scale).astype(np.int8), scale.astype(np.float32)
        else:
            small[name] = value.astype(np.float32)
    np.savez_compressed(folder / "gte.npz", **small)


def unpack(path):
    data, tensors = np.load(path), {}
    for name in data.files:
        if name.endswith(".q"):
            tensors[name[:-2]] = data[name].astype(np.float32) * data[name[:-2] + ".s"]
        elif not name.endswith(".s"):
            tensors[name] = data[name]
    return tensors


def read_embedder(path):
    """Reads the tensors of an embedder's file by their published names."""
    file = PackedModel(path)
    take = file.take
    linear = lambda outputs, inputs: dict(zip(("weight", "bias"), file.linear(outputs, inputs)))
    layers, vocabulary, positions, slots, spelling = file.numbers(1, 4, 5, 14, 15)
    norm = lambda: {"weight": take(WIDTH), "bias": take(WIDTH)}
    take(slots, of=np.uint32), take(vocabulary + 1, of=np.uint32), take(spelling, of=np.uint8)
    scale = take(vocabulary)
    parts = {"embeddings.word_embeddings": {"weight": take(vocabulary, WIDTH, of=np.int8) * scale[:, None]},
             "embeddings.position_embeddings": {"weight": take(positions, WIDTH)}, "embeddings.LayerNorm": norm()}
    for layer in range(layers):
        for end, rows in linear(3 * WIDTH, WIDTH).items():
            # The program divides the query by the root of the head's width beforehand.
            rows[:WIDTH] *= (WIDTH // HEADS) ** 0.5
            for name, part in zip(SELF, np.split(rows, 3)):
                parts.setdefault(f"encoder.layer.{layer}.{name}", {})[end] = part
        sizes = {"context": (WIDTH, WIDTH), "up": (INNER, WIDTH), "down": (WIDTH, INNER)}
        for own, name in PARTS.items():
            parts[f"encoder.layer.{layer}.{name}"] = linear(*sizes[own]) if own in sizes else norm()
    file.end()
    return {f"{name}.{end}": np.array(value) for name, ends in parts.items() for end, value in ends.items()}


def rows_of(name):
    """Reads the lines of a file beside this one, which may be compressed."""
    path = HERE / name
    lines = open(path, encoding="utf-8") if path.exists() else gzip.open(f"{path}.gz", "rt", encoding="utf-8")
    with lines:
        return [json.loads(line) for line in lines]


class Data:
    """Memories and prompts, with the nearest memories of each prompt."""

    def __init__(self, tokenizer, files):
        self.tokenizer, self.known = tokenizer, {}
        self.memories, self.project, self.prompts, self.swaps, self.shared = {}, defaultdict(list), [], {}, set()
        for file in files:
            for row in rows_of(file):
                if file.startswith("named"):
                    self.shared.add(row["project"])
                if row["type"] == "memory":
                    self.memories[row["id"]] = row["text"]
                    self.project[row["project"]].append(row["id"])
                else:
                    self.prompts.append(row)
        self.prompts += [{"type": "off topic", "prompt": line} for line in (HERE / "everyday.txt").read_text().splitlines()]
        for project, ids in self.project.items():
            names = {name.strip("`") for one in ids for name in NAME.findall(self.memories[one])}
            self.swaps[project] = sorted(name for name in names if 3 < len(name) < 30)

    def ids(self, text):
        if text not in self.known:
            self.known[text] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return self.known[text]


def windows(data, text, size):
    """Splits the text into runs of whole sentences of at most `size` tokens."""
    if len(data.ids(text)) <= size:
        return [text]
    out, at = [], 0
    sentences = [one for one in SENTENCE.split(text) if one.strip()]
    while at < len(sentences):
        end, length = at, 0
        while end < len(sentences) and (end == at or length + len(data.ids(sentences[end])) <= size):
            length += len(data.ids(sentences[end]))
            end += 1
        out.append(" ".join(sentences[at:end]))
        at = max(at + 1, end - 1) if end < len(sentences) else end
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--passage", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--teacher-epochs", type=int, default=3)
    parser.add_argument("--load-teacher", type=pathlib.Path)
    parser.add_argument("--save-teacher", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--golden", type=pathlib.Path, help="write pairs with the student's odds, for the tests")
    parser.add_argument("--eval", type=pathlib.Path, help="a folder with the sets of eval/, to score with")
    asked = parser.parse_args()
    if asked.shrink:
        return shrink(asked.inputs, asked.out)

    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from safetensors.torch import load_file, save_file
    from tokenizers import Tokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    random.seed(asked.seed)
    torch.manual_seed(asked.seed)
    began = time.time()
    say = lambda *words: print(f"{time.time() - began:5.0f} s", *words, flush=True)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.context = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.attention_norm, self.norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
            self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

        def forward(self, x, mask):
            texts, length, _ = x.shape
            q, k, v = self.qkv(x).view(texts, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(texts, length, WIDTH)
            x = self.attention_norm(x + self.context(context))
            return self.norm(x + self.down(F.gelu(self.up(x))))

    class Encoder(nn.Module):
        """The network. `tensors` maps published names; `picked` are the numbers of the layers to start from."""

        def __init__(self, tensors, picked):
            super().__init__()
            self.words, self.places, self.kinds = nn.Embedding(WORDS, WIDTH), nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
            self.norm = nn.LayerNorm(WIDTH, 1e-12)
            self.layers = nn.ModuleList(Layer() for _ in picked)
            self.verdict = nn.Linear(WIDTH, 1)
            with torch.no_grad():
                self.kinds.weight.zero_()
                for name, target in self.published(picked):
                    if name in tensors:
                        target[:len(tensors[name])].copy_(torch.as_tensor(tensors[name]))
                for number, layer in zip(picked, self.layers):
                    for end in ("weight", "bias"):
                        parts = [torch.as_tensor(tensors[f"encoder.layer.{number}.{part}.{end}"]) for part in SELF]
                        getattr(layer.qkv, end).copy_(torch.cat(parts))
            # The program keeps one table of words for all models.
            self.words.weight.requires_grad_(False)

        def published(self, numbers):
            for name, part in (("word", self.words), ("position", self.places), ("token_type", self.kinds)):
                yield f"embeddings.{name}_embeddings.weight", part.weight
            yield from ((f"embeddings.LayerNorm.{end}", getattr(self.norm, end)) for end in ("weight", "bias"))
            yield from ((f"classifier.{end}", getattr(self.verdict, end)) for end in ("weight", "bias"))
            for number, layer in zip(numbers, self.layers):
                for own, name in PARTS.items():
                    for end in ("weight", "bias"):
                        yield f"encoder.layer.{number}.{name}.{end}", getattr(getattr(layer, own), end)

        def hidden(self, ids, kinds, mask):
            x = self.norm(self.words(ids) + self.places.weight[:ids.shape[1]] + self.kinds(kinds))
            for layer in self.layers:
                x = layer(x, mask[:, None, None, :])
            return (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)

        def forward(self, ids, kinds, mask):
            return self.verdict(F.dropout(self.hidden(ids, kinds, mask), 0.1, self.training)).squeeze(-1)

        def save(self, path):
            kept = {name: part for name, part in self.published(range(len(self.layers))) if "word_" not in name}
            for number, layer in enumerate(self.layers):
                for end in ("weight", "bias"):
                    for name, part in zip(SELF, getattr(layer.qkv, end).chunk(3)):
                        kept[f"encoder.layer.{number}.{name}.{end}"] = part
            kept["embeddings.position_embeddings.weight"] = self.places.weight[:POSITIONS]
            save_file({name: part.detach().half().cpu().contiguous().clone() for name, part in kept.items()}, str(path))

    tokenizer = Tokenizer.from_file(str(asked.inputs / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    data = Data(tokenizer, ["pairs.jsonl", "named-pairs.jsonl"])
    minilm = read_embedder(HERE / "all-minilm-l6-v2.rkm")

    def padded(pairs):
        shape = len(pairs), max(len(ids) for ids, _ in pairs)
        ids, kinds, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, bool)
        for row, (these, first) in enumerate(pairs):
            ids[row, :len(these)], kinds[row, first:len(these)], mask[row, :len(these)] = these, 1, True
        return tuple(torch.from_numpy(part).to(device, non_blocking=True) for part in (ids, kinds, mask))

    def pair(prompt, passage, size):
        prompt, passage = data.ids(prompt), data.ids(passage)
        if len(prompt) > PROMPT:
            prompt = prompt[:PROMPT // 2] + prompt[-(PROMPT // 2):]
        return [CLS, *prompt, SEP, *passage[:size], SEP], len(prompt) + 2

    embedder = Encoder(minilm, range(6)).to(device).eval()

    @torch.no_grad()
    def embed(texts):
        order, out = sorted(range(len(texts)), key=lambda at: len(data.ids(texts[at]))), torch.zeros(len(texts), WIDTH, device=device)
        for start in range(0, len(order), 1024):
            part = order[start:start + 1024]
            rows = [[CLS, *data.ids(texts[at])[:200], SEP] for at in part]
            with torch.autocast(device, torch.bfloat16):
                out[part] = F.normalize(embedder.hidden(*padded([(row, len(row)) for row in rows])).float(), dim=-1)
        return out

    place = {one: at for at, one in enumerate(data.memories)}
    names = list(data.memories)
    beside, asks = embed(list(data.memories.values())), embed([row["prompt"] for row in data.prompts])
    inside = {project: torch.tensor([place[one] for one in ids], device=device) for project, ids in data.project.items()}
    near = []
    for at, row in enumerate(data.prompts):
        among = inside.get(row.get("project"))
        scores = (beside if among is None else beside[among]) @ asks[at]
        best = scores.topk(min(10, len(scores))).indices.tolist()
        near.append([names[one if among is None else int(among[one])] for one in best])
    say(f"{len(data.project)} projects, {len(names)} memories, {len(data.prompts)} prompts")

    # No memory helps with these, whatever the teacher says.
    off_topic = {row["prompt"] for row in data.prompts if row["type"] == "off topic"}

    def gold(row):
        gold = row.get("gold") or []
        return [one for one in ([gold] if isinstance(gold, str) else gold) if one in data.memories]

    def examples(seed):
        """Returns prompts with a memory, whether it helps, and the sentence that answers, if known."""
        chance, rows = random.Random(seed), []
        projects = [project for project, swaps in data.swaps.items() if swaps]
        for at, row in enumerate(data.prompts):
            prompt, golden = row["prompt"], gold(row)
            others = [one for one in near[at] if one not in golden]
            if row["type"] == "answerable":
                for place, one in enumerate(golden[:2]):
                    text, sentence = data.memories[one], row.get("sentence") if place == 0 else None
                    rows.append((prompt, text, 1.0, sentence))
                    shared = sorted(name for name in {name.strip("`") for name in NAME.findall(prompt)} if name in text)
                    swaps = data.swaps.get(row["project"])
                    if shared and swaps:
                        # With another module in the prompt or in the memory, it no longer helps. With the same new name in both, it does.
                        for in_prompt in (True, False):
                            old, new = chance.choice(shared), chance.choice(swaps)
                            if new not in text and new not in prompt:
                                rows.append((prompt.replace(old, new), text, 0.0, None) if in_prompt else (prompt, text.replace(old, new), 0.0, None))
                        old, new = chance.choice(shared), chance.choice(data.swaps[chance.choice(projects)])
                        rows.append((prompt.replace(old, new), text.replace(old, new), 1.0, sentence and sentence.replace(old, new)))
                # Where modules share properties, the nearest other memory is about the neighbouring property or module.
                hardest = others[:1] if row["project"] in data.shared else []
                rows += [(prompt, data.memories[one], 0.0, None) for one in hardest + chance.sample(others[len(hardest):], min(2, len(others) - len(hardest)))]
            elif row["type"] == "near miss":
                picked = others[:1] + chance.sample(others[1:6], min(2, len(others[1:6])))
                rows += [(prompt, data.memories[one], 0.0, None) for one in picked]
            else:
                # One near memory, and two of any project, because every session has a project.
                anywhere = [chance.choice(names) for _ in range(2)]
                rows += [(prompt, data.memories[one], 0.0, None) for one in [chance.choice(near[at]), *anywhere]]
        chance.shuffle(rows)
        return rows

    def unlabelled(seed, count=3):
        """Returns near memories of every prompt, which only the teacher labels."""
        chance = random.Random(seed)
        return [(row["prompt"], data.memories[one], None, None) for at, row in enumerate(data.prompts) if row["type"] != "off topic"
                for one in chance.sample(near[at][:8], min(count, len(near[at])))]

    def titled(text, chance):
        """Prefixes some memories with a title, as recall does; the title may be empty."""
        kind = chance.random()
        if kind < 0.6:
            return text
        if kind < 0.8:
            return f"note-{chance.randint(1, 40):02}\n{text}"
        return " ".join(text.split()[:chance.randint(2, 6)]).rstrip(".,:;") + "\n" + text

    vectors = {}

    def best_windows(rows, size):
        """Returns, for each long memory, the window nearest to the prompt, or the one that answers it."""
        texts, wanted = set(), []
        for prompt, text, _, _ in rows:
            if len(data.ids(text)) > size:
                wanted += [prompt, *windows(data, text, size)]
        new = [text for text in dict.fromkeys(wanted) if text not in vectors]
        vectors.update(zip(new, embed(new).cpu())) if new else None
        out = []
        for prompt, text, label, sentence in rows:
            parts = windows(data, text, size)
            if len(parts) > 1:
                telling = [part for part in parts if sentence and sentence[:60] in part]
                scores = [float(vectors[part] @ vectors[prompt]) for part in parts]
                nearest = parts[int(np.argmax(scores))]
                text = telling[0] if telling else nearest
            out.append((prompt, text, label))
        return out

    def batches(rows, size, chance, count=512):
        for start in range(0, len(rows), count * 16):
            some = sorted(rows[start:start + count * 16], key=lambda row: len(data.ids(row[0])) + min(size, len(data.ids(row[1]))))
            parts = [some[at:at + count] for at in range(0, len(some), count)]
            chance.shuffle(parts)
            yield from (part for part in parts if len(part) > 8)

    @torch.no_grad()
    def odds(model, pairs):
        model.eval()
        order, out = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0])), np.zeros(len(pairs), np.float32)
        for start in range(0, len(order), 1024):
            part = order[start:start + 1024]
            with torch.autocast(device, torch.bfloat16):
                out[part] = model(*padded([pairs[at] for at in part])).float().cpu().numpy()
        model.train()
        return out

    sets = {}
    if asked.eval:
        sets = evaluation(asked.eval, embed)

    def score(model, size, half):
        out = {}
        for name, rows in sets.items():
            rows = [row for row in rows if row["half"] in (half, None)]
            pairs, spans = [], []
            for row in rows:
                found = []
                for text in row["near"]:
                    parts = windows(data, text, size)
                    found += parts if len(parts) > 1 else [text]
                spans.append((len(pairs), len(pairs) + len(found)))
                pairs += [pair(row["prompt"], text, size) for text in found]
            said = odds(model, pairs)
            best = [said[a:b].max() if b > a else -9.0 for a, b in spans]
            kinds = defaultdict(list)
            for row, value in zip(rows, best):
                if row["type"] != "answerable" or row["found"]:
                    kinds[row["type"]].append(float(value))
            good = sorted(kinds["answerable"])
            least = good[int(0.03 * len(good))]
            misses, off = kinds["near miss"], kinds["off topic"]
            area = float(np.mean([[(g > m) + 0.5 * (g == m) for m in misses] for g in good]))
            out[name] = f"{area:.3f} {np.mean([m < least for m in misses]):.2f} {np.mean([o < least for o in off]) if off else 0:.2f}"
        return out

    def train(model, rows_by_epoch, size, rate, teacher=None):
        learned = [weights for weights in model.parameters() if weights.requires_grad]
        optimiser = torch.optim.AdamW(learned, lr=rate, weight_decay=0.01)
        chance = random.Random(asked.seed)
        total = sum(len(rows) // 512 + 1 for rows in rows_by_epoch)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, total_steps=total + 8 * len(rows_by_epoch), pct_start=0.08)
        for epoch, rows in enumerate(rows_by_epoch):
            soft = {}
            if teacher is not None:
                # The teacher reads the same window with more context.
                keys = list(dict.fromkeys((prompt, text) for prompt, text, _ in rows))
                soft = dict(zip(keys, odds(teacher, [pair(*key, TEACHER_PASSAGE) for key in keys])))
            mean, model_size = 0.0, size
            model.train()
            for step, some in enumerate(batches(rows, size, chance)):
                labels = torch.tensor([0.5 if label is None else label for *_, label in some], device=device)
                target = labels * 0.96 + 0.02
                if soft:
                    # If the teacher clearly contradicts a label, one of them is wrong, so they are averaged.
                    said = torch.tensor([soft[prompt, text] for prompt, text, _ in some], device=device)
                    share = torch.tensor([1.0 if prompt in off_topic else 0.0 if label is None else 0.4 for prompt, _, label in some], device=device)
                    target = share * target + (1 - share) * torch.sigmoid(said)
                inputs = [pair(prompt, titled(text, chance), model_size) for prompt, text, _ in some]
                with torch.autocast(device, torch.bfloat16):
                    loss = F.binary_cross_entropy_with_logits(model(*padded(inputs)).float(), target)
                optimiser.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(learned, 1.0)
                optimiser.step()
                schedule.step()
                mean = 0.98 * mean + 0.02 * loss.item() if step else loss.item()
            say(f"epoch {epoch + 1}: loss {mean:.3f}", *(f"{half} {score(model, size, half)}" for half in ("tune", "report")) if sets else ())

    epochs = max(asked.epochs, asked.teacher_epochs)
    everything = [examples(asked.seed + epoch) for epoch in range(epochs)]
    say(f"{len(everything[0])} pairs an epoch")
    if asked.load_teacher:
        tensors = load_file(str(asked.load_teacher))
        tensors["embeddings.word_embeddings.weight"] = minilm["embeddings.word_embeddings.weight"]
        teacher = Encoder(tensors, range(12)).to(device)
    else:
        gte = unpack(asked.inputs / "gte.npz")
        start = dict(gte) | {name: value for name, value in minilm.items() if name.startswith("embeddings.")}
        for name, value in minilm.items():
            if name.startswith("encoder.layer."):
                number, rest = name.removeprefix("encoder.layer.").split(".", 1)
                same = f"encoder.layer.{2 * int(number)}.{rest}"
                start[same] = BLEND * value + (1 - BLEND) * gte[same]
        teacher = Encoder(start, range(12)).to(device)
        with torch.no_grad():
            teacher.kinds.weight.normal_(0, 0.02)
        whole = [[(prompt, text, label) for prompt, text, label, _ in rows] for rows in everything[:asked.teacher_epochs]]
        train(teacher, whole, TEACHER_PASSAGE, 6e-5)
        if asked.save_teacher:
            teacher.save(asked.save_teacher)
    tensors = dict(teacher.published(range(12)))
    for number, layer in enumerate(teacher.layers):
        for end in ("weight", "bias"):
            for name, part in zip(SELF, getattr(layer.qkv, end).detach().chunk(3)):
                tensors[f"encoder.layer.{number}.{name}.{end}"] = part
    tensors = {name: part.detach().float().cpu() for name, part in tensors.items()}
    picked = [round(at * 11 / (asked.layers - 1)) for at in range(asked.layers)] if asked.layers > 1 else [0]
    student = Encoder(tensors, picked).to(device)
    say(f"student from layers {picked}")
    narrow = []
    for epoch in range(asked.epochs):
        rows = everything[epoch] + unlabelled(asked.seed + 100 + epoch)
        random.Random(epoch).shuffle(rows)
        narrow.append(best_windows(rows, asked.passage))
    train(student, narrow, asked.passage, 1.5e-4 if asked.layers < 6 else 1e-4, teacher)
    student.save(asked.out)
    if asked.golden:
        student.eval()
        with torch.no_grad():
            for part in student.parameters():
                part.copy_(part.half().float())
            some = [(prompt, text) for prompt, text, label in narrow[0][::2600] if label is not None]
            said = [(*both, round(student(*padded([pair(*both, asked.passage)])).item(), 4)) for both in some]
        asked.golden.write_text(json.dumps(said, ensure_ascii=False, indent=0) + "\n")
    say(f"wrote {asked.out}")


def evaluation(folder, embed):
    """Reads the sets of eval/: each prompt with its five nearest memories."""
    read = lambda name: [json.loads(line) for line in (folder / name).read_text().splitlines()]
    sets = {}
    for name, file, memories, everywhere in (("asked", "asked.jsonl", "memories.jsonl", True), ("typed", "typed.jsonl", "memories.jsonl", True),
                                             ("balanced", "balanced.jsonl", "balanced-memories.jsonl", False),
                                             ("named", "named.jsonl", "named-memories.jsonl", False)):
        if not (folder / file).exists():
            continue
        memories = read(memories)
        vectors = embed([row["text"] for row in memories])
        of = defaultdict(list)
        for at, row in enumerate(memories):
            of[row["project"]].append(at)
        prompts, rows = read(file), []
        asks = embed([row["prompt"] for row in prompts])
        for row, vector in zip(prompts, asks):
            among = of.get(row["project"], []) + (of.get(None, []) if everywhere else []) or list(range(len(memories)))
            best = (vectors[among] @ vector).topk(min(5, len(among))).indices.tolist()
            golden = row.get("gold") or []
            golden = [golden] if isinstance(golden, str) else golden
            near = [memories[among[at]] for at in best]
            rows.append({"type": row["type"], "prompt": row["prompt"], "half": row.get("half"), "near": [one["text"] for one in near],
                         "found": any(one["id"] in golden for one in near)})
        sets[name] = rows
    return sets


if __name__ == "__main__":
    main()
