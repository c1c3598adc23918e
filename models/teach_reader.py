#!/usr/bin/env python3
"""Teaches the reader: whether a memory is of use for a prompt, from both texts at once.

Usage: teach_reader.py MODEL START OUT [--prompts N] [--rate R] [--seed N] [--threads N] [--golden FILE]

MODEL is the unpacked all-MiniLM-L6-v2 (`models/make.sh --keep MODEL`), whose words it shares; START is gte-small as ONNX in full
precision (`models/README.md` says where it is from), whose layers it starts from, or a reader (`.rkr`) that goes on learning;
OUT is a safetensors file for `cargo run -p rekindle-embed --example pack_reader`. Reads pairs.jsonl and everyday.txt beside it. FILE gets pairs with what the
reader says of them in full precision, for the tests. Needs torch, tokenizers, safetensors, numpy and onnx, and about an hour
on two processors.
"""
import argparse
import hashlib
import json
import pathlib
import random
import time

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

HERE = pathlib.Path(__file__).parent
WIDTH, HEADS, INNER = 384, 12, 1536
GTE_SHA256 = "398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3"
# Both are grown from the same twelve layers; MiniLM has every second of them. So much of its layers goes into those of gte, which
# makes them fit its words.
BLEND = 0.3
# As crates/embed/src/reader.rs has them.
PROMPT, MEMORY = 64, 120
CLS, SEP = 101, 102
BATCH, RATE = 32, 5e-5
# The first steps are smaller.
WARM = 150
# How many of the nearest memories are read to find the hardest: of a prompt's own project, where nothing answers it or something
# does; for one off topic of any project, and as many of the nearest of all, which are often short rules.
NEAR, NEAR_ANSWERED, ANY = 5, 3, 2
# What is read with more than these log odds and should be of no use may be of use after all, and is not taught.
DOUBT, DOUBT_ANSWERED = 2.5, 1.0
# So many prompts are read at once, and then learned from.
BLOCK = 700


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv, self.context = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.attention_norm, self.norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)

    def forward(self, x, mask):
        texts, length, _ = x.shape
        q, k, v = self.qkv(x).view(texts, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = torch.add(mask, q @ k.transpose(-1, -2), alpha=(WIDTH // HEADS) ** -0.5)
        context = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(texts, length, WIDTH)
        x = self.attention_norm(x + self.context(context))
        return self.norm(x + self.down(F.gelu(self.up(x))))


# Names in the published file, without `weight` and `bias`, by the names above.
PARTS = {"context": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
         "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"}
SELF = [f"attention.self.{part}" for part in ("query", "key", "value")]


class Reader(nn.Module):
    def __init__(self, published, layers):
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.places, self.kinds = nn.Embedding(512, WIDTH), nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.verdict = nn.Linear(WIDTH, 1)
        with torch.no_grad():
            for name, target in self.published():
                target[:len(published[name])].copy_(published[name])
            for number, layer in enumerate(self.layers):
                for end in ("weight", "bias"):
                    parts = [published[f"encoder.layer.{number}.{part}.{end}"] for part in SELF]
                    getattr(layer.qkv, end).copy_(torch.cat(parts))
        # The program keeps one table of words for both.
        self.words.weight.requires_grad_(False)

    def published(self):
        """What stands in the published file under one name, with that name."""
        for name, part in (("word", self.words), ("position", self.places), ("token_type", self.kinds)):
            yield f"embeddings.{name}_embeddings.weight", part.weight
        yield from ((f"embeddings.LayerNorm.{end}", getattr(self.norm, end)) for end in ("weight", "bias"))
        for number, layer in enumerate(self.layers):
            for own, name in PARTS.items():
                for end in ("weight", "bias"):
                    yield f"encoder.layer.{number}.{name}.{end}", getattr(getattr(layer, own), end)

    def hidden(self, ids, kinds, mask):
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])) + self.kinds(kinds))
        hidden = torch.zeros(mask.shape).masked_fill_(~mask, -1e4)[:, None, None, :]
        if torch.is_autocast_enabled("cpu"):
            hidden = hidden.bfloat16()
        for layer in self.layers:
            x = layer(x, hidden)
        return (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)

    def forward(self, ids, kinds, mask):
        return self.verdict(F.dropout(self.hidden(ids, kinds, mask), 0.1, self.training)).squeeze(-1)

    def save(self, path):
        kept = {name: weights for name, weights in self.published() if "word_" not in name}
        for number, layer in enumerate(self.layers):
            for end in ("weight", "bias"):
                for name, part in zip(SELF, getattr(layer.qkv, end).chunk(3)):
                    kept[f"encoder.layer.{number}.{name}.{end}"] = part
        kept |= {"classifier.weight": self.verdict.weight, "classifier.bias": self.verdict.bias}
        save_file({name: weights.detach().float().contiguous().clone() for name, weights in kept.items()}, path)


def from_onnx(path):
    """The tensors of a BERT by their published names: in ONNX a matrix has none of its own, but its bias, added next, has."""
    import onnx
    assert hashlib.sha256(path.read_bytes()).hexdigest() == GTE_SHA256, f"{path} is another gte-small than this was made with"
    graph = onnx.load(str(path)).graph
    tensors = {tensor.name: torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy()) for tensor in graph.initializer}
    added = {node.input[side]: node for node in graph.node if node.op_type == "Add" for side in (0, 1)}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in tensors:
            bias = next(name for name in added[node.output[0]].input if name in tensors)
            tensors[bias.replace(".bias", ".weight")] = tensors[node.input[1]].T.contiguous()
    return tensors


def blended(minilm, gte):
    """The layers of gte, over the words of MiniLM."""
    start = {name: gte[name] for name in gte if name.startswith("encoder.")}
    for name, weights in minilm.items():
        if name.startswith("embeddings."):
            start[name] = weights
        elif name.startswith("encoder.layer."):
            number, rest = name.removeprefix("encoder.layer.").split(".", 1)
            same = f"encoder.layer.{2 * int(number)}.{rest}"
            start[same] = BLEND * weights + (1 - BLEND) * gte[same]
    return start


def from_reader(path, minilm):
    """The tensors of a reader by their published names, as near as eight bits kept them; crates/embed/src/layout.rs has the order."""
    file, at = path.read_bytes(), 512
    assert file.startswith(b"RKREADS\n"), f"{path} is no reader"
    layers, places = int.from_bytes(file[36:40], "little"), int.from_bytes(file[52:56], "little")

    def take(*shape, of=np.float32):
        nonlocal at
        start, count = -(-at // 64) * 64, int(np.prod(shape))
        at = start + count * np.dtype(of).itemsize
        return torch.from_numpy(np.frombuffer(file, of, count, start).reshape(shape).copy())

    def linear(outputs, inputs):
        steps = take(outputs // 64, inputs // 4, 64, 4, of=np.int8).permute(0, 2, 1, 3).reshape(outputs, inputs)
        scale, _, bias = take(outputs), take(outputs, of=np.int32), take(outputs)
        return {"weight": steps * scale[:, None], "bias": bias}

    norm = lambda: {"weight": take(WIDTH), "bias": take(WIDTH)}
    parts = {"embeddings.position_embeddings": {"weight": take(places, WIDTH)}, "embeddings.LayerNorm": norm()}
    for number in range(layers):
        qkv = linear(3 * WIDTH, WIDTH)
        for end, rows in qkv.items():
            rows[:WIDTH] *= (WIDTH // HEADS) ** 0.5
            for name, part in zip(SELF, rows.chunk(3)):
                parts.setdefault(f"encoder.layer.{number}.{name}", {})[end] = part
        sizes = {"context": (WIDTH, WIDTH), "up": (INNER, WIDTH), "down": (WIDTH, INNER)}
        for own, name in PARTS.items():
            parts[f"encoder.layer.{number}.{name}"] = linear(*sizes[own]) if own in sizes else norm()
    # The first kind of text is in the places already.
    second, verdict = take(WIDTH), {"weight": take(1, WIDTH), "bias": take(1)}
    assert at == len(file), f"{path} is longer than it should be"
    parts["embeddings.token_type_embeddings"] = {"weight": torch.stack([torch.zeros(WIDTH), second])}
    tensors = {f"{name}.{end}": weights for name, ends in parts.items() for end, weights in ends.items()}
    words = "embeddings.word_embeddings.weight"
    return tensors | {words: minilm[words]}, verdict


class Texts:
    def __init__(self, folder):
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.known = {}

    def ids(self, text):
        if text not in self.known:
            self.known[text] = self.tokenizer.encode(text, add_special_tokens=False).ids
        return self.known[text]

    def pair(self, prompt, memory):
        prompt, memory = self.ids(prompt), self.ids(memory)
        if len(prompt) > PROMPT:
            prompt = prompt[:PROMPT // 2] + prompt[-(PROMPT // 2):]
        first, second = [CLS, *prompt, SEP], [*memory[:MEMORY], SEP]
        return first + second, [0] * len(first) + [1] * len(second)

    def alone(self, text):
        ids = [CLS, *self.ids(text)[:254], SEP]
        return ids, [0] * len(ids)


def batch(pairs):
    shape = len(pairs), max(len(ids) for ids, _ in pairs)
    ids, kinds, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.bool)
    for row, (these, kind) in enumerate(pairs):
        ids[row, :len(these)], kinds[row, :len(these)], mask[row, :len(these)] = torch.tensor(these), torch.tensor(kind), True
    return ids, kinds, mask


def embed(model, texts, lines):
    """The vectors that recall itself would look at."""
    order = sorted(range(len(lines)), key=lambda at: len(texts.ids(lines[at])))
    vectors = np.zeros((len(lines), WIDTH), np.float32)
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(order), 64):
            part = order[start:start + 64]
            vectors[part] = F.normalize(model.hidden(*batch([texts.alone(lines[at]) for at in part])), dim=-1).float().numpy()
    return vectors


def named(memory, number, chance):
    """As recall searches it: some memories have a title before them, which may say nothing."""
    kind = chance.random()
    if kind < 0.5:
        return memory
    if kind < 0.75:
        return f"note-{number:02}\n{memory}"
    return " ".join(memory.split()[:chance.randint(2, 6)]).rstrip(".,:;") + "\n" + memory


class Lessons:
    """Prompts, and of the memories that are near to each those that a reader takes for useful most easily."""
    def __init__(self, model, texts):
        rows = [json.loads(line) for line in (HERE / "pairs.jsonl").read_text().splitlines()]
        everyday = [row["prompt"] for row in rows if row["type"] == "off topic"] + (HERE / "everyday.txt").read_text().splitlines()
        self.texts, self.memories = texts, [row for row in rows if row["type"] == "memory"]
        self.own, place = {}, {}
        for at, memory in enumerate(self.memories):
            self.own.setdefault(memory["project"], []).append(at)
            place[memory["id"]] = at
        # A prompt, its project if it has one, and what answers it.
        self.prompts = [(row["prompt"], row["project"], [place[gold] for gold in row["gold"]])
                        for row in rows if row["type"] in ("answerable", "near miss")]
        self.prompts += [(prompt, None, []) for prompt in everyday]
        self.beside = embed(model, texts, [memory["text"] for memory in self.memories])
        lines = [prompt for prompt, _, _ in self.prompts]
        self.vectors = dict(zip(lines, embed(model, texts, lines)))

    def near(self, prompt, among, count):
        order = np.argsort(-(self.beside[among] @ self.vectors[prompt]))[:count]
        return [among[at] for at in order]

    def pair(self, prompt, at, chance):
        return self.texts.pair(prompt, named(self.memories[at]["text"], at, chance))

    def taught(self, prompts, reader, chance):
        """Pairs of these prompts with what answers them and the hardest of what does not, and whether it is of use."""
        answers, others, everything = [], [], list(range(len(self.memories)))
        for prompt, project, golden in prompts:
            answers += [(self.pair(prompt, at, chance), 1.0) for at in golden]
            if project:
                count = NEAR_ANSWERED if golden else NEAR
                near = [at for at in self.near(prompt, self.own[project], count + len(golden)) if at not in golden][:count]
            else:
                near = self.near(prompt, self.own[chance.choice(list(self.own))], ANY)
                near += chance.sample(self.near(prompt, everything, 4 * ANY), ANY)
            others.append([self.pair(prompt, at, chance) for at in near])
        odds = iter(read(reader, [pair for some in others for pair in some]))
        for (_, project, golden), some in zip(prompts, others):
            doubt = DOUBT_ANSWERED if golden else DOUBT if project else float("inf")
            hard = [pair for odd, pair in sorted(((next(odds), pair) for pair in some), reverse=True) if odd < doubt]
            count = 1 + (not golden or chance.random() < 0.5)
            answers += [(pair, 0.0) for pair in hard[:count]]
        return answers


def read(reader, pairs):
    """The log odds of each."""
    order, odds = sorted(range(len(pairs)), key=lambda at: len(pairs[at][0])), [0.0] * len(pairs)
    reader.eval()
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        for start in range(0, len(order), 64):
            part = order[start:start + 64]
            for at, odd in zip(part, reader(*batch([pairs[at] for at in part])).tolist()):
                odds[at] = odd
    reader.train()
    return odds


def golden(model, texts, path):
    """Some pairs, of use and not, and what is said of them."""
    rows = [json.loads(line) for line in (HERE / "pairs.jsonl").read_text().splitlines()]
    memories = {row["id"]: row["text"] for row in rows if row["type"] == "memory"}
    first = {row["project"]: row["text"] for row in reversed(rows) if row["type"] == "memory"}
    prompts = [row for row in rows if row["type"] in ("answerable", "near miss")][::271]
    pairs = [(row["prompt"], memories[row["gold"][0]] if row["gold"] else first[row["project"]]) for row in prompts]
    model.eval()
    with torch.no_grad():
        said = [(*pair, round(model(*batch([texts.pair(*pair)])).item(), 4)) for pair in pairs]
    pathlib.Path(path).write_text(json.dumps(said, ensure_ascii=False, indent=0) + "\n")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("model", type=pathlib.Path)
    arguments.add_argument("start", type=pathlib.Path)
    arguments.add_argument("out")
    arguments.add_argument("--prompts", type=int, default=70_000)
    arguments.add_argument("--rate", type=float, default=RATE)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--threads", type=int, default=2)
    arguments.add_argument("--golden")
    asked = arguments.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(asked.threads)
    chance, texts = random.Random(asked.seed), Texts(asked.model)
    minilm = load_file(asked.model / "model.safetensors")
    lessons = Lessons(Reader(minilm, 6), texts)
    if asked.start.suffix == ".rkr":
        tensors, verdict = from_reader(asked.start, minilm)
        model = Reader(tensors, 12)
        model.verdict.load_state_dict(verdict)
    else:
        model = Reader(blended(minilm, from_onnx(asked.start)), 12)
    model.train()
    learned = [weights for weights in model.parameters() if weights.requires_grad]
    optimiser = torch.optim.AdamW(learned, lr=asked.rate, weight_decay=0.01, fused=True)
    print(f"{len(lessons.own)} projects, {len(lessons.prompts)} prompts", flush=True)
    due, step, mean, began = [], 0, 0.0, time.time()
    for seen in range(0, asked.prompts, BLOCK):
        if len(due) < BLOCK:
            due = chance.sample(lessons.prompts, len(lessons.prompts))
        block, due = due[:BLOCK], due[BLOCK:]
        # Texts of about the same length go together.
        taught = sorted(lessons.taught(block, model, chance), key=lambda one: len(one[0][0]))
        batches = [taught[at:at + BATCH] for at in range(0, len(taught), BATCH)]
        chance.shuffle(batches)
        for number, some in enumerate(batches):
            step += 1
            past = (seen + BLOCK * number / len(batches)) / asked.prompts
            for group in optimiser.param_groups:
                group["lr"] = asked.rate * min(1, step / WARM) * max(0, 1 - past)
            with torch.autocast("cpu", torch.bfloat16):
                odds = model(*batch([pair for pair, _ in some])).float()
            loss = F.binary_cross_entropy_with_logits(odds, torch.tensor([of_use for _, of_use in some]))
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            mean = 0.98 * mean + 0.02 * loss.item()
        print(f"{seen + len(block)} of {asked.prompts}, loss {mean / (1 - 0.98 ** step):.4f}, {time.time() - began:.0f} s", flush=True)
    model.save(asked.out)
    if asked.golden:
        golden(model, texts, asked.golden)


if __name__ == "__main__":
    main()
