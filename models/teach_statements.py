#!/usr/bin/env python3
"""Trains the statement classifier: which sentences of a session are lasting, their kind, and whether one ends another.

Usage: teach_statements.py MODEL DATA OUT [--layers N] [--epochs N] [--seed N] [--all]

MODEL is a folder with config.json, tokenizer.json and the weights of all-MiniLM-L6-v2 (model.safetensors, or minilm.npz as
`--shrink` writes it); DATA holds statements.jsonl (labelled turns) and statement-pairs.jsonl; OUT is a safetensors file for
`cargo run -p rekindle-embed --example pack_classifier`. Without --all, a sixth of the turns is held out and scored.
`--shrink` writes OUT as a small copy of MODEL's weights and exits. Needs torch and tokenizers; a minute on a large GPU.
"""
import argparse
import gzip
import json
import math
import pathlib
import random
import re
import time

import numpy as np

WIDTH, HEADS, INNER = 384, 12, 1536
CLS, SEP = 101, 102
# The lengths in crates/core/src/knowledge/statement/passage.rs, in characters.
AGENT, AROUND, STOPPED, SENTENCE = 200, 100, 80, 400
KINDS = ["rule", "preference", "convention", "decision", "environment", "cause", "work"]
PAIRS = ["replaces", "same", "neither"]
# lasting, once, kinds, everywhere, ends, pairs: the order of crates/embed/src/classifier.rs.
OUTPUTS = 2 + len(KINDS) + 2 + len(PAIRS)
END = re.compile(r"(?<=[.!?;])\s+|\n+")


def context(who, stopped, agent, before, after):
    stop = f" stopped {stopped[:STOPPED]}" if stopped else ""
    return f"{who}{stop}: {agent[-AGENT:]} | {before[-AROUND:]} | {after[:AROUND]}"


def units(turn):
    """Returns the labelled sentences, and the same message split as the program splits it."""
    message, sentences = turn["message"], turn["sentences"]
    out, at, places = [], 0, []
    for sentence in sentences:
        found = message.find(sentence["text"], at)
        if found < 0:
            found = message.find(sentence["text"])
        if found < 0:
            continue
        places.append((found, found + len(sentence["text"]), sentence))
        at = found + len(sentence["text"])
    one = lambda lasting, once, kind, wide, ends: {"lasting": lasting, "once": once, "kind": kind, "wide": wide, "ends": ends}
    rows = []
    for begin, end, s in places:
        rows.append((begin, end, one(s["lasting"], s["once"], s["kind"] if s["lasting"] else None, s["scope"] == "everywhere", s["ends"])))
    begin = 0
    for cut in [m.span() for m in END.finditer(message)] + [(len(message), len(message))]:
        end = cut[0]
        inside = [s for b, e, s in places if b < end and e > begin]
        if inside and message[begin:end].strip():
            lasting = [s for s in inside if s["lasting"]]
            first = lasting[0] if lasting else None
            rows.append((begin, end, one(bool(lasting), not lasting and any(s["once"] for s in inside), first and first["kind"],
                                         any(s["scope"] == "everywhere" for s in lasting), any(s["ends"] for s in lasting))))
        begin = cut[1]
    seen = set()
    for begin, end, label in rows:
        text = message[begin:end].strip()
        if (begin, end) in seen or not text:
            continue
        seen.add((begin, end))
        ctx = context(turn["who"], turn.get("stopped"), turn.get("agent") or "", message[:begin].strip(), message[end:].strip())
        out.append((ctx, text[:SENTENCE], label, turn))
    return out


def rows_of(path):
    """Reads the lines of a file, which may be compressed."""
    lines = open(path, encoding="utf-8") if path.exists() else gzip.open(f"{path}.gz", "rt", encoding="utf-8")
    return [json.loads(line) for line in lines]


def shrink(folder, out):
    from safetensors.numpy import load_file
    weights, small = load_file(str(folder / "model.safetensors")), {}
    for name, value in weights.items():
        if name.endswith("position_ids") or name.startswith("pooler"):
            continue
        if name == "embeddings.word_embeddings.weight":
            # The program's quantisation: a byte for each number, a scale for each row.
            scale = np.abs(value).max(1, keepdims=True) / 127
            small[name + ".q"], small[name + ".s"] = np.round(value / scale).astype(np.int8), scale.astype(np.float32)
        else:
            small[name] = value.astype(np.float16)
    np.savez_compressed(out, **small)


def load(folder):
    packed = folder / "minilm.npz"
    if not packed.exists():
        shrink(folder, packed)
    data, weights = np.load(packed), {}
    for name in data.files:
        if name.endswith(".q"):
            weights[name[:-2]] = data[name].astype(np.float32) * data[name[:-2] + ".s"]
        elif not name.endswith(".s"):
            weights[name] = data[name].astype(np.float32)
    return weights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", type=int, default=3, help="how many are trained and averaged")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--halves", action="store_true", help="write OUT.1 and OUT.2, where files have to stay small")
    parser.add_argument("--shrink", action="store_true")
    arguments = parser.parse_args()
    if arguments.shrink:
        return shrink(arguments.model, arguments.out)
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    from tokenizers import Tokenizer

    device = "cuda" if torch.cuda.is_available() else "cpu"
    random.seed(arguments.seed)
    torch.manual_seed(arguments.seed)
    tokenizer = Tokenizer.from_file(str(arguments.model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    weights = load(arguments.model)

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv, self.context = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.attention_norm, self.norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
            self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
            self.drop = nn.Dropout(0.1)

        def forward(self, x, mask):
            texts, length, _ = x.shape
            q, k, v = self.qkv(x).view(texts, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            attended = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            attended = attended.transpose(1, 2).reshape(texts, length, WIDTH)
            x = self.attention_norm(x + self.drop(self.context(attended)))
            return self.norm(x + self.drop(self.down(F.gelu(self.up(x)))))

    parts = {"context": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
             "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"}
    own = [f"attention.self.{part}" for part in ("query", "key", "value")]
    take = [round(n * 5 / max(1, arguments.layers - 1)) for n in range(arguments.layers)]

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            tensor = lambda name: torch.tensor(weights[name])
            self.words = nn.Embedding.from_pretrained(tensor("embeddings.word_embeddings.weight"), freeze=True)
            self.places = nn.Embedding.from_pretrained(tensor("embeddings.position_embeddings.weight"), freeze=False)
            self.kinds = nn.Embedding.from_pretrained(tensor("embeddings.token_type_embeddings.weight"), freeze=False)
            self.norm = nn.LayerNorm(WIDTH, 1e-12)
            self.norm.load_state_dict({"weight": tensor("embeddings.LayerNorm.weight"), "bias": tensor("embeddings.LayerNorm.bias")})
            self.layers = nn.ModuleList(Layer() for _ in range(arguments.layers))
            for number, layer in zip(take, self.layers):
                base = f"encoder.layer.{number}."
                with torch.no_grad():
                    for end in ("weight", "bias"):
                        getattr(layer.qkv, end).copy_(torch.cat([tensor(f"{base}{name}.{end}") for name in own]))
                        for name, published in parts.items():
                            getattr(getattr(layer, name), end).copy_(tensor(f"{base}{published}.{end}"))
            self.classifier = nn.Linear(WIDTH, OUTPUTS)

        def forward(self, ids, kinds, mask):
            places = torch.arange(ids.shape[1], device=ids.device)
            x = self.norm(self.words(ids) + self.places(places) + self.kinds(kinds))
            attend = torch.zeros(mask.shape, device=ids.device, dtype=x.dtype).masked_fill(mask == 0, -1e4)[:, None, None, :]
            for layer in self.layers:
                x = layer(x, attend.to(x.dtype))
            mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            return self.classifier(mean.float())

        def published(self):
            state = {"embeddings.position_embeddings.weight": self.places.weight,
                     "embeddings.token_type_embeddings.weight": self.kinds.weight,
                     "embeddings.LayerNorm.weight": self.norm.weight, "embeddings.LayerNorm.bias": self.norm.bias,
                     "classifier.weight": self.classifier.weight, "classifier.bias": self.classifier.bias}
            for number, layer in enumerate(self.layers):
                base = f"encoder.layer.{number}."
                for end in ("weight", "bias"):
                    for name, part in zip(own, getattr(layer.qkv, end).chunk(3)):
                        state[f"{base}{name}.{end}"] = part
                    for name, published in parts.items():
                        state[f"{base}{published}.{end}"] = getattr(getattr(layer, name), end)
            return {name: value.detach().cpu().half().contiguous() for name, value in state.items()}

    cache = {}

    def ids(text):
        if text not in cache:
            cache[text] = tokenizer.encode(text, add_special_tokens=False).ids
        return cache[text]

    def batch(rows):
        sequences = []
        for first, second, *_ in rows:
            a, b = ids(first)[:150], ids(second)[:100]
            sequences.append(([CLS] + a + [SEP] + b + [SEP], len(a) + 2))
        length = max(len(sequence) for sequence, _ in sequences)
        tokens = torch.zeros(len(rows), length, dtype=torch.long)
        kinds, mask = torch.zeros_like(tokens), torch.zeros(len(rows), length)
        for row, (sequence, second) in enumerate(sequences):
            tokens[row, :len(sequence)] = torch.tensor(sequence)
            kinds[row, second:len(sequence)] = 1
            mask[row, :len(sequence)] = 1
        return tokens.to(device), kinds.to(device), mask.to(device)

    turns, pairs = rows_of(arguments.data / "statements.jsonl"), rows_of(arguments.data / "statement-pairs.jsonl")
    random.Random(5).shuffle(turns)
    random.Random(5).shuffle(pairs)
    cut = lambda rows: (rows, rows[: len(rows) // 6]) if arguments.all else (rows[len(rows) // 6 :], rows[: len(rows) // 6])
    (learn_turns, check_turns), (learn_pairs, check_pairs) = cut(turns), cut(pairs)
    if not arguments.all:
        # Pairs with the same older statement stay on one side.
        held = {pair["old"] for pair in check_pairs}
        learn_pairs, check_pairs = [p for p in pairs if p["old"] not in held], [p for p in pairs if p["old"] in held]
    labelled = [unit for turn in learn_turns for unit in units(turn)]
    rows = [(a, b, "unit", label) for a, b, label, _ in labelled]
    # Sometimes drop or shorten the context.
    drop = lambda a: re.sub(r": .*? \|", ": |", a, count=1)
    rows += [(drop(a), b, kind, label) for a, b, kind, label in rows if random.random() < 0.3]
    # A sentence of a short message means the same as the only one of a session; in a long message it may be pasted.
    alone = lambda a, b, turn: a.startswith("user") and len(b.split()) >= 4 and len(turn["message"]) < 250 and not turn.get("stopped")
    rows += [("user:  |  | ", b, "unit", label) for a, b, label, turn in labelled if alone(a, b, turn) and random.random() < 0.3]
    for pair in learn_pairs:
        rows.append((pair["old"], pair["new"], "pair", pair["label"]))
        if pair["label"] == "same":
            rows.append((pair["new"], pair["old"], "pair", "same"))
        if pair["label"] == "neither" and random.random() < 0.5:
            rows.append((pair["new"], pair["old"], "pair", "neither"))
    olds = [pair["old"] for pair in learn_pairs]
    for pair in learn_pairs[::3]:
        rows.append((random.choice(olds), pair["new"], "pair", "neither"))

    def loss_of(out, group):
        total = out.new_zeros(())
        unit = [n for n, row in enumerate(group) if row[2] == "unit"]
        if unit:
            o, labels = out[unit], [group[n][3] for n in unit]
            flag = lambda key: torch.tensor([0.97 if label[key] else 0.03 for label in labels], device=device)
            bce = F.binary_cross_entropy_with_logits
            total = total + bce(o[:, 0], flag("lasting")) + 0.5 * bce(o[:, 1], flag("once"))
            lasting = [n for n, label in enumerate(labels) if label["lasting"]]
            if lasting:
                kind = torch.tensor([KINDS.index(labels[n]["kind"]) for n in lasting], device=device)
                total = total + 0.4 * F.cross_entropy(o[lasting, 2:9], kind, label_smoothing=0.05)
                total = total + 0.4 * bce(o[lasting, 9], flag("wide")[lasting]) + 0.4 * bce(o[lasting, 10], flag("ends")[lasting])
        pair = [n for n, row in enumerate(group) if row[2] == "pair"]
        if pair:
            target = torch.tensor([PAIRS.index(group[n][3]) for n in pair], device=device)
            total = total + F.cross_entropy(out[pair, 11:14], target, label_smoothing=0.05) * len(pair) / max(16, len(pair))
        return total

    def train(seed):
        torch.manual_seed(1)
        model = Classifier().to(device)
        torch.manual_seed(seed)
        random.seed(seed)
        optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=arguments.rate, weight_decay=0.01)
        steps = arguments.epochs * math.ceil(len(rows) / size)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=arguments.rate, total_steps=steps + 2, pct_start=0.1)
        for epoch in range(arguments.epochs):
            model.train()
            random.shuffle(rows)
            for begin in range(0, len(rows), size):
                group = rows[begin:begin + size]
                with torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
                    out = model(*batch(group))
                loss = loss_of(out.float(), group)
                optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
            print(f"seed {seed} epoch {epoch} loss {loss.item():.3f} {time.time() - began:.0f} s", check(model, batch, units, check_turns, check_pairs, torch), flush=True)
        return model.state_dict()

    began = time.time()
    print("turns", len(learn_turns), "pairs", len(learn_pairs), "rows", len(rows), "device", device, flush=True)
    size = 64
    states = []
    for seed in range(arguments.seed, arguments.seed + arguments.models):
        states.append(train(seed))
    # Models with the same start and another order of rows agree where the data is clear, and average out their noise elsewhere.
    model = Classifier().to(device)
    model.load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    print("average of", len(states), check(model, batch, units, check_turns, check_pairs, torch), flush=True)
    from safetensors.torch import save_file
    state = model.published()
    if arguments.halves:
        first = {name: value for name, value in state.items() if re.search(r"layer\.[012]\.", name)}
        save_file(first, str(arguments.out) + ".1")
        save_file({name: value for name, value in state.items() if name not in first}, str(arguments.out) + ".2")
    else:
        save_file(state, str(arguments.out))


def auc(rows):
    positive, negative = [s for s, y in rows if y], [s for s, y in rows if not y]
    if not positive or not negative:
        return float("nan")
    order = sorted([(s, 1) for s in positive] + [(s, 0) for s in negative])
    rank = sum(n + 1 for n, (_, y) in enumerate(order) if y)
    return (rank - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative))


def check(model, batch, units, turns, pairs, torch):
    model.eval()
    rows = [(a, b, label, turn) for turn in turns for a, b, label, turn in units(turn)]
    out = []
    with torch.no_grad():
        for begin in range(0, len(rows), 256):
            out += model(*batch(rows[begin:begin + 256])).float().tolist()
        said = [model(*batch([(p["old"], p["new"]) for p in pairs[n:n + 256]])).float() for n in range(0, len(pairs), 256)]
    result = {}
    for who in ("user", "agent"):
        mine = [(o, row) for o, row in zip(out, rows) if row[3]["who"] == who]
        if not mine:
            continue
        scored = sorted(((o[0], row[2]["lasting"]) for o, row in mine), reverse=True)
        result[who + " auc"] = round(auc(scored), 3)
        total = sum(y for _, y in scored)
        for precision in (0.9, 0.8):
            hit = best = 0
            for n, (_, y) in enumerate(scored, 1):
                hit += y
                if hit / n >= precision:
                    best = hit
            result[f"{who} recall@p{int(precision * 100)}"] = round(best / max(1, total), 2)
    lasting = [(o, row[2]) for o, row in zip(out, rows) if row[2]["lasting"]]
    result["kind"] = round(sum(KINDS[max(range(7), key=lambda n: o[2 + n])] == label["kind"] for o, label in lasting) / len(lasting), 2)
    result["wide"] = round(auc([(o[9], label["wide"]) for o, label in lasting]), 3)
    result["ends"] = round(auc([(o[10], label["ends"]) for o, label in lasting]), 3)
    if pairs:
        said = torch.cat(said)[:, 11:14]
        right = [int(line.argmax()) == PAIRS.index(pair["label"]) for line, pair in zip(said, pairs)]
        result["pairs"] = round(sum(right) / len(right), 3)
        result["replaces auc"] = round(auc([(float(torch.softmax(line, 0)[0]), pair["label"] == "replaces") for line, pair in zip(said, pairs)]), 3)
    return result


if __name__ == "__main__":
    main()
