#!/usr/bin/env python3
"""Teaches the built-in models to read German, Spanish, French and Portuguese: a second table of word embeddings.

Usage: teach_languages.py --vocabulary SIZE PAIRS OUT
       teach_languages.py PAIRS VOCABULARY OUT [--variants table,...] [--steps N] [--eval DIR]
       teach_languages.py --convert NPZ OUT

PAIRS comes from parallel_texts.py. The first form writes a WordPiece vocabulary, one piece per line (needs tokenizers). The
second writes OUT-VARIANT.npz with a row for each piece in eight bits (needs torch and numpy; some minutes on a large GPU). The
third converts that to safetensors for `cargo run -p rekindle-embed --example pack_words`.

The layers of all-MiniLM-L6-v2 and of the cross-encoder stay as they are. Only the rows are learnt: the embedding of a
text shall be the one that all-MiniLM-L6-v2 gives its English translation, and the cross-encoder shall score a pair of
texts as it scores the English pair. So vectors of all languages can be compared, and both models share the table.
A word that the vocabulary does not have, but that all-MiniLM-L6-v2 knows as one piece, keeps its English row.
"""
import argparse
import gzip
import json
import lzma
import pathlib
import random
import re
import sys
import time
import unicodedata
from collections import Counter, defaultdict

import numpy as np

from packed_model import PackedModel

HERE = pathlib.Path(__file__).resolve().parent
WIDTH, HEADS, INNER, ENGLISH = 384, 12, 1536, 30522
CLS, SEP, UNK = 101, 102, 100
PROMPT, PASSAGE, LONGEST = 40, 64, 128
LANGUAGES = ("de", "es", "fr", "pt")
ACCENT = re.compile("[\u0300-\u036f]")
WORD = re.compile(r"[^\W_]+|[^\w\s]|_")
PARTS = {"context": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
         "up": "intermediate.dense", "down": "output.dense", "norm": "output.LayerNorm"}
GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def words_of(text):
    """Splits as the tokenizer in crates/embed/src/tokenize.rs does, in lower case without accents."""
    plain = text if text.isascii() else ACCENT.sub("", unicodedata.normalize("NFD", text))
    return WORD.findall(plain.lower())


class Vocabulary:
    """Own pieces first, then those of the English model, whose ids follow."""

    def __init__(self, own, english):
        self.own = {piece: at for at, piece in enumerate(own)}
        self.english = {piece: at for at, piece in enumerate(english)}
        self.size, self.known, self.known_english = len(own), {}, {}

    @staticmethod
    def pieces(table, word):
        out, rest = [], word
        while rest:
            mark = "##" if out else ""
            for end in range(len(rest), 0, -1):
                at = table.get(mark + rest[:end])
                if at is not None:
                    out.append(at)
                    rest = rest[end:]
                    break
            else:
                return None
        return out

    def ids(self, text):
        out = []
        for word in words_of(text):
            found = self.known.get(word)
            if found is None:
                if word in self.own:
                    found = [self.own[word]]
                elif word in self.english:
                    found = [self.size + self.english[word]]
                else:
                    found = (self.pieces(self.own, word) if len(word) <= 100 else None) or [self.size + UNK]
                self.known[word] = found
            out.extend(found)
        return out

    def english_ids(self, text):
        """With the offset of English ids."""
        out = []
        for word in words_of(text):
            found = self.known_english.get(word)
            if found is None:
                pieces = self.pieces(self.english, word) if len(word) <= 100 else None
                found = self.known_english[word] = [self.size + at for at in pieces or [UNK]]
            out.extend(found)
        return out


def read_model(path):
    """Reads an embedder or a cross-encoder."""
    file = PackedModel(path)
    take, linear = file.take, file.linear
    layers, vocabulary, positions, slots, spelling = file.numbers(1, 4, 5, 14, 15)
    norm = lambda: (take(WIDTH).copy(), take(WIDTH).copy())
    model = {}
    if file.bytes.startswith(b"RKEMBED\n"):
        take(slots, of=np.uint32)
        ends, spelled = take(vocabulary + 1, of=np.uint32), bytes(take(spelling, of=np.uint8))
        model["pieces"] = [spelled[start:end].decode() for start, end in zip(ends, ends[1:])]
        scale = take(vocabulary)
        model["words"] = take(vocabulary, WIDTH, of=np.int8) * scale[:, None]
    model["positions"], model["norm"], model["layers"] = take(positions, WIDTH).copy(), norm(), []
    for _ in range(layers):
        qkv = linear(3 * WIDTH, WIDTH)
        # The program divides the query by the root of the head's width beforehand.
        for part in qkv:
            part[:WIDTH] *= (WIDTH // HEADS) ** 0.5
        context = linear(WIDTH, WIDTH), norm()
        model["layers"].append({"qkv": qkv, "context": context[0], "attention_norm": context[1],
                                "up": linear(INNER, WIDTH), "down": linear(WIDTH, INNER), "norm": norm()})
    if file.bytes.startswith(b"RKREADS\n"):
        model["second"], model["verdict"] = take(WIDTH).copy(), (take(1, WIDTH).copy(), take(1).copy())
    file.end()
    return model


def lines_of(path):
    path = pathlib.Path(path)
    opened = {".gz": gzip.open, ".xz": lzma.open}.get(path.suffix, open)
    with opened(path, "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def pairs_of(path):
    """Language, kind, English and translation of each pair in a file of parallel_texts.py."""
    for line in lines_of(path):
        kind, english, *others = line.split("\t")
        for language, other in zip(others[::2], others[1::2]):
            yield language, kind, english, other


def rows_of(name):
    path = HERE / name if (HERE / name).exists() else HERE / f"{name}.gz"
    return [json.loads(line) for line in lines_of(path)]


def make_vocabulary(asked):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    counts = Counter()
    for language, kind, english, other in pairs_of(asked.pairs):
        counts.update(words_of(other))
    for row in rows_of("translations.jsonl"):
        for word in words_of(row["xx"]):
            counts[word] += 20
    for row in rows_of("pairs.jsonl"):
        for word in words_of(row.get("text") or row["prompt"]):
            counts[word] += 0.7
    english = set(read_model(HERE / "all-minilm-l6-v2.rkm")["pieces"])
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    characters = sorted({char for char in "".join(word for word, count in counts.items() if count > 50)})
    trainer = trainers.WordPieceTrainer(vocab_size=asked.vocabulary, min_frequency=2, special_tokens=["[UNK]"], show_progress=False,
                                        limit_alphabet=400)

    def stream():
        # The root weakens what the largest catalogues repeat.
        for word, count in counts.items():
            if count >= 3:
                yield " ".join([word] * min(4000, max(1, int(count ** 0.75))))
    tokenizer.train_from_iterator(stream(), trainer)
    pieces = [piece for piece, _ in sorted(tokenizer.get_vocab().items(), key=lambda both: both[1]) if piece != "[UNK]"]
    asked.out.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    total = sum(counts.values())
    known = set(pieces)
    whole = sum(count for word, count in counts.items() if word in known)
    print(f"{len(pieces)} pieces from {len(counts)} words; {whole / total:.3f} of the running words are one piece; "
          f"{sum(piece in english for piece in pieces)} are pieces of the English model too; {len(characters)} characters")


def convert(source, out):
    data = np.load(source)
    rows = (data["rows"].astype(np.float32) * data["scale"][:, None]).astype("<f4")
    table = {"words.weight": {"dtype": "F32", "shape": list(rows.shape), "data_offsets": [0, rows.nbytes]}}
    head = json.dumps(table).encode()
    out.write_bytes(len(head).to_bytes(8, "little") + head + rows.tobytes())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=int)
    parser.add_argument("--convert", action="store_true")
    parser.add_argument("pairs", type=pathlib.Path)
    parser.add_argument("own", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path, nargs="?")
    parser.add_argument("--variants", default="table")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--batch", type=int, default=3072)
    parser.add_argument("--minutes", type=float, default=60, help="start no further variant after this time")
    parser.add_argument("--limit", type=int, default=0, help="read only so many pairs, to try the script")
    parser.add_argument("--eval", type=pathlib.Path, help="the sets of eval/languages, to measure every variant with")
    parser.add_argument("--all", action="store_true", help="hold no translations out")
    asked = parser.parse_args()
    if asked.convert:
        return convert(asked.pairs, asked.own)
    if asked.vocabulary:
        asked.out = asked.own
        return make_vocabulary(asked)

    import torch
    import torch.nn as nn
    import torch.nn.functional as F
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(1)
    torch.set_float32_matmul_precision("high")
    began = time.time()
    say = lambda *words: print(f"{time.time() - began:5.0f} s", *words, flush=True)

    class Layer(nn.Module):
        def __init__(self, parts):
            super().__init__()
            self.qkv, self.context = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
            self.attention_norm, self.norm = nn.LayerNorm(WIDTH, 1e-12), nn.LayerNorm(WIDTH, 1e-12)
            self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
            with torch.no_grad():
                for name, (weight, bias) in parts.items():
                    getattr(self, name).weight.copy_(torch.as_tensor(weight))
                    getattr(self, name).bias.copy_(torch.as_tensor(bias))

        def forward(self, x, mask):
            texts, length, _ = x.shape
            q, k, v = self.qkv(x).view(texts, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
            context = F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).reshape(texts, length, WIDTH)
            x = self.attention_norm(x + self.context(context))
            return self.norm(x + self.down(F.gelu(self.up(x))))

    class Encoder(nn.Module):
        def __init__(self, parts, layers=None):
            super().__init__()
            self.positions = nn.Parameter(torch.as_tensor(parts["positions"]))
            self.norm = nn.LayerNorm(WIDTH, 1e-12)
            self.layers = nn.ModuleList(Layer(parts["layers"][at]) for at in layers or range(len(parts["layers"])))
            with torch.no_grad():
                self.norm.weight.copy_(torch.as_tensor(parts["norm"][0]))
                self.norm.bias.copy_(torch.as_tensor(parts["norm"][1]))
            self.second = nn.Parameter(torch.as_tensor(parts.get("second", np.zeros(WIDTH, np.float32))))
            self.verdict = nn.Linear(WIDTH, 1)
            if "verdict" in parts:
                with torch.no_grad():
                    self.verdict.weight.copy_(torch.as_tensor(parts["verdict"][0]))
                    self.verdict.bias.copy_(torch.as_tensor(parts["verdict"][1]))
            self.requires_grad_(False)

        def hidden(self, rows, mask, second=None):
            x = rows + self.positions[:rows.shape[1]]
            if second is not None:
                x = x + second.unsqueeze(-1) * self.second
            x = self.norm(x)
            for layer in self.layers:
                x = layer(x, mask[:, None, None, :])
            return (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)

    minilm, reading = read_model(HERE / "all-minilm-l6-v2.rkm"), read_model(HERE / "reader.rkr")
    own = [line for line in lines_of(asked.own) if line]
    vocabulary = Vocabulary(own, minilm["pieces"])
    cls, sep = vocabulary.size + CLS, vocabulary.size + SEP
    english_rows = torch.as_tensor(minilm["words"]).to(device)
    teacher, reader = Encoder(minilm).to(device).eval(), Encoder(reading).to(device).eval()

    # --- texts
    chance = random.Random(1)
    lines = list(pairs_of(asked.pairs))
    if asked.limit:
        lines = chance.sample(lines, asked.limit)
    corpus, dictionary = [], []
    for language, kind, english, other in lines:
        (corpus if kind == "text" else dictionary).append((language, english, other))
    by_language = Counter(row[0] for row in dictionary)
    dictionary = [row for row in dictionary if chance.random() < 60_000 / by_language[row[0]]]
    translations = [row for row in rows_of("translations.jsonl") if row["language"] in LANGUAGES]
    projects = sorted({row["project"] for row in translations})
    held = set() if asked.all else set(projects[::8])
    pairs = rows_of("pairs.jsonl") + rows_of("named-pairs.jsonl")
    if asked.limit:
        pairs = pairs[:6000]
    held_english = {row["en"] for row in translations if row["project"] in held}
    memories = {row["id"]: row["text"] for row in pairs if row["type"] == "memory"}
    prompts = [row for row in pairs if row["type"] != "memory"]
    native = sorted({row["prompt"] for row in prompts} | set(memories.values()))
    native += (HERE / "everyday.txt").read_text().splitlines() + (HERE / "work.txt").read_text().splitlines()
    native = [text for text in native if text not in held_english]
    say(f"{len(corpus)} pairs of texts, {len(dictionary)} of words, {len(translations)} translations "
        f"({len(projects)} projects, {len(held)} held out), {len(native)} English texts; {vocabulary.size} pieces")

    # --- lexicon: words that occur in each other's translations
    def lexicon(language, size=20_000 if device == "cuda" else 3000):
        rows = [(words_of(english)[:40], words_of(other)[:40]) for own, english, other in corpus if own == language]
        rows += [(words_of(row["en"])[:40], words_of(row["xx"])[:40])
                 for row in translations if row["language"] == language and row["project"] not in held] * 3
        tops = [[word for word, _ in Counter(word for row in rows for word in set(row[side])).most_common(size)] for side in (0, 1)]
        places = [{word: at for at, word in enumerate(top)} for top in tops]
        counts = torch.zeros(size * size, device=device)
        sums = [torch.zeros(size, device=device) for _ in tops]
        for start in range(0, len(rows), 4096):
            some, sides = rows[start:start + 4096], []
            for side in (0, 1):
                table = np.full((len(some), 40), -1, np.int64)
                for at, row in enumerate(some):
                    ids = list({places[side][word] for word in row[side] if word in places[side]})
                    table[at, :len(ids)] = ids
                sides.append(torch.from_numpy(table).to(device))
                flat = sides[-1].reshape(-1)
                sums[side] += torch.bincount(flat[flat >= 0], minlength=size)
            both = sides[0][:, :, None] * size + sides[1][:, None, :]
            both = both[(sides[0][:, :, None] >= 0) & (sides[1][:, None, :] >= 0)]
            counts.index_add_(0, both, torch.ones(len(both), device=device))
        counts = counts.view(size, size)
        score = counts * counts / (sums[0][:, None] * sums[1][None, :] + 4)
        score[counts < 2] = 0
        best, to = score.topk(4, dim=1)
        back, source = score.topk(3, dim=0)
        forwards, backwards = defaultdict(dict), {}
        for at, word in enumerate(tops[0]):
            for value, other in zip(best[at].tolist(), to[at].tolist()):
                if value > 0.08 and value > best[at, 0].item() * 0.3:
                    forwards[word][tops[1][other]] = value
        for at, word in enumerate(tops[1]):
            found = [(tops[0][other], value) for value, other in zip(back[:, at].tolist(), source[:, at].tolist()) if value > 0.04]
            if found:
                backwards[word] = found
        for own, english, other in dictionary:
            if own == language:
                english, other = words_of(english), words_of(other)
                if english[:1] == ["to"] and len(english) == 2:
                    english = english[1:]
                if len(english) == 1 and len(other) == 1:
                    value = 0.2 if other[0] in places[1] else 0.03
                    forwards[english[0]].setdefault(other[0], value)
                    if other[0] not in backwards:
                        backwards[other[0]] = [(english[0], 0.2)]
        return {word: (list(found), list(found.values())) for word, found in forwards.items()}, backwards

    lexicons = {language: lexicon(language) for language in LANGUAGES}
    say("lexicons of", {language: (len(both[0]), len(both[1])) for language, both in lexicons.items()}, "words;",
        {language: both[0].get("error") for language, both in lexicons.items()})

    def look_up(forwards, word):
        for base in (word, word.rstrip("s"), word.removesuffix("es"), word.removesuffix("ed"), word.removesuffix("d"),
                     word.removesuffix("ing"), word.removesuffix("ing") + "e", word.removesuffix("ly")):
            if base in forwards and len(base) > 1:
                return forwards[base]

    def switched(text, language):
        """The English text with most words replaced by a translation of each."""
        forwards, out = lexicons[language][0], []
        for word in words_of(text):
            found = look_up(forwards, word) if chance.random() < 0.9 else None
            out.append(chance.choices(*found)[0] if found else word)
        return " ".join(out)

    # --- the mix, as ids: (own ids, number of the English text)
    english_texts, english_place, mix = [], {}, defaultdict(list)

    def english_number(text):
        if text not in english_place:
            english_place[text] = len(english_texts)
            english_texts.append(np.array([cls, *vocabulary.english_ids(text)[:LONGEST], sep], np.int32))
        return english_place[text]

    def add(kind, text, english):
        mix[kind].append((np.array([cls, *vocabulary.ids(text)[:LONGEST], sep], np.int32), english_number(english)))

    for language, english, other in corpus:
        add("text", other, english)
        if language == "de" and chance.random() < 0.1:
            add("text", other.translate(GERMAN), english)
    for _, english, other in dictionary:
        add("word", other, english)
    for row in translations:
        if row["project"] not in held:
            for variant in {row["xx"], row["xx"].lower()} | ({row["xx"].translate(GERMAN)} if row["language"] == "de" else set()):
                add("translation", variant, row["en"])
    for text in native:
        for language in LANGUAGES:
            add("switched", switched(text, language), text)
        add("english", text, text)
    own_texts = [row for rows in mix.values() for row in rows]
    starts = np.cumsum([0] + [len(rows) for rows in mix.values()])
    kinds = {kind: (starts[at], starts[at + 1]) for at, kind in enumerate(mix)}
    say({kind: len(rows) for kind, rows in mix.items()}, f"{len(english_texts)} English,",
        f"{sum(len(row) for row, _ in own_texts) / len(own_texts):.1f} tokens each")

    def flat(texts):
        ends = np.cumsum([0] + [len(text) for text in texts])
        return torch.from_numpy(np.concatenate(texts)).to(device), torch.from_numpy(ends).to(device)

    def gathered(store, which):
        """Pads the texts `which` of a flat store."""
        ids, ends = store
        start, length = ends[which], ends[which + 1] - ends[which]
        place = torch.arange(int(length.max()), device=device)
        mask = place[None, :] < length[:, None]
        return ids[(start[:, None] + place[None, :]).clamp(max=len(ids) - 1)].long() * mask, mask

    own_store, english_store = flat([row for row, _ in own_texts]), flat(english_texts)
    target_of = torch.tensor([number for _, number in own_texts], device=device)
    autocast = lambda: torch.autocast(device, torch.bfloat16, enabled=device == "cuda")

    def in_chunks(store, which, run, tokens=65_536):
        """Runs over texts of similar length together and returns the results in the order of `which`."""
        lengths = store[1][which + 1] - store[1][which]
        order = torch.argsort(lengths)
        sizes, start, out = lengths[order].tolist(), 0, []
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * sizes[end] <= tokens:
                end += 1
            out.append(run(*gathered(store, which[order[start:end]])))
            start = end
        return torch.cat(out)[torch.argsort(order)]

    everything = english_rows
    with torch.no_grad(), autocast():
        rows_for = lambda ids: F.embedding((ids - vocabulary.size).clamp(min=0), everything)
        targets = torch.cat([in_chunks(english_store, torch.arange(start, min(start + 65_536, len(english_texts)), device=device),
                                       lambda ids, mask: F.normalize(teacher.hidden(rows_for(ids), mask).float(), dim=-1).half())
                             for start in range(0, len(english_texts), 65_536)])
    say("English texts embedded")

    # --- pairs for the cross-encoder: English ids, own ids of each side
    by_english = defaultdict(list)
    for row in translations:
        by_english[row["en"]].append(row)
    of_project = defaultdict(list)
    for row in pairs:
        if row["type"] == "memory":
            of_project[row["project"]].append(row["id"])

    cut_prompt = lambda ids: ids if len(ids) <= PROMPT else ids[:PROMPT // 2] + ids[-(PROMPT // 2):]
    two = lambda prompt, passage: (np.array([cls, *cut_prompt(prompt), sep, *passage[:PASSAGE], sep], np.int32), min(len(prompt), PROMPT) + 2)
    english_pairs, own_pairs, pair_places, held_pairs = [], [], [], []
    for row in prompts:
        if row["type"] == "off topic" or not of_project.get(row["project"]):
            continue
        gold = row.get("gold") or []
        gold = [one for one in ([gold] if isinstance(gold, str) else gold) if one in memories]
        near = chance.sample(of_project[row["project"]], 1)
        known = by_english.get(row["prompt"], [])
        translated = {one["language"]: one["xx"] for one in known}
        if not translated and chance.random() < 0.6:
            continue
        for one in gold[:1] + near + (near if translated else []):
            theirs = {row["language"]: row["xx"] for row in by_english.get(memories[one], [])}
            if translated and one in near and not theirs:
                candidates = [other for other in of_project[row["project"]] if by_english.get(memories[other])]
                one = chance.choice(candidates) if candidates else one
                theirs = {row["language"]: row["xx"] for row in by_english.get(memories[one], [])}
            english = two(vocabulary.english_ids(row["prompt"]), vocabulary.english_ids(memories[one]))
            number = len(english_pairs)
            english_pairs.append(english)
            for language in (list(translated) or [chance.choice(LANGUAGES)]):
                is_real = language in translated
                prompt = vocabulary.ids(translated[language] if is_real else switched(row["prompt"], language))
                passage = vocabulary.ids(theirs[language] if language in theirs else switched(memories[one], language))
                is_held = row["project"] in held
                both = [(prompt, passage), (prompt, vocabulary.english_ids(memories[one])), (vocabulary.english_ids(row["prompt"]), passage)]
                if is_held:
                    if is_real and language in theirs:
                        held_pairs.append((number, two(*both[0]), two(*both[1])))
                    continue
                for pair in both if is_real else [chance.choice(both)]:
                    own_pairs.append(two(*pair))
                    pair_places.append((number, is_real))
    pair_store, english_pair_store = flat([ids for ids, _ in own_pairs]), flat([ids for ids, _ in english_pairs])
    firsts, english_firsts = (torch.tensor([first for _, first in some], device=device) for some in (own_pairs, english_pairs))
    pair_target = torch.tensor([number for number, _ in pair_places], device=device)
    real = torch.tensor([is_real for _, is_real in pair_places], device=device)
    real, unreal = real.nonzero().squeeze(1), (~real).nonzero().squeeze(1)
    with torch.no_grad(), autocast():
        def read_english(which):
            ids, mask = gathered(english_pair_store, which)
            second = (torch.arange(ids.shape[1], device=device) >= english_firsts[which][:, None]) & mask
            return reader.verdict(reader.hidden(rows_for(ids), mask, second)).squeeze(-1).float()
        logits = torch.cat([read_english(torch.arange(start, min(start + 1024, len(english_pairs)), device=device))
                            for start in range(0, len(english_pairs), 1024)])
    say(f"{len(own_pairs)} pairs for the cross-encoder, {len(real)} of them translated, {len(held_pairs)} held out")

    # --- where the rows start
    def start_rows():
        rows = torch.randn(vocabulary.size, WIDTH) * 0.01
        words = torch.as_tensor(minilm["words"])
        rows += words.mean(0)
        english, counts = vocabulary.english, [0, 0]
        for piece, at in vocabulary.own.items():
            found = [] if piece.startswith("##") else [one for both in lexicons.values() for one in both[1].get(piece, [])]
            if found:
                total = sum(value for _, value in found)
                parts = [(words[[one - vocabulary.size for one in vocabulary.english_ids(word)] or [UNK]].mean(0), value / total)
                         for word, value in found]
                rows[at] = sum(part * share for part, share in parts)
                counts[0] += 1
            elif piece in english:
                rows[at] = words[english[piece]]
                counts[1] += 1
        say(f"rows start from translations: {counts[0]}, from the same piece: {counts[1]}")
        return rows.to(device)

    started = start_rows()

    def evaluate(table, student):
        student.eval()
        lookup = torch.cat([table, english_rows])

        @torch.no_grad()
        def embed(texts, is_english):
            ids = [np.array([cls, *(vocabulary.english_ids(text) if english else vocabulary.ids(text))[:200], sep], np.int32)
                   for text, english in zip(texts, is_english)]
            store = flat(ids)
            with autocast():
                own = in_chunks(store, torch.arange(len(ids), device=device),
                                lambda ids, mask: F.normalize(student.hidden(lookup[ids], mask).float(), dim=-1))
                english = in_chunks(store, torch.arange(len(ids), device=device),
                                    lambda ids, mask: F.normalize(teacher.hidden(lookup[ids], mask).float(), dim=-1))
            pick = torch.tensor(is_english, device=device)[:, None]
            return torch.where(pick, english, own)

        @torch.no_grad()
        def read(some):
            out = []
            for start in range(0, len(some), 512):
                part = some[start:start + 512]
                store = flat([ids for ids, _ in part])
                ids, mask = gathered(store, torch.arange(len(part), device=device))
                first = torch.tensor([first for _, first in part], device=device)
                second = (torch.arange(ids.shape[1], device=device) >= first[:, None]) & mask
                with autocast():
                    out.append(reader.verdict(reader.hidden(lookup[ids], mask, second)).squeeze(-1).float())
            return torch.cat(out) if out else torch.zeros(0)

        told = []
        rows = [row for row in translations if row["project"] in held]
        for language in LANGUAGES:
            some = [row for row in rows if row["language"] == language]
            if some:
                other, english = (embed([row[key] for row in some], [key == "en"] * len(some)) for key in ("xx", "en"))
                cosine = (other * english).sum(-1).mean().item()
                first = ((other @ english.T).argmax(1) == torch.arange(len(some), device=device)).float().mean().item()
                told.append(f"{language} {cosine:.3f}/{first:.3f}")
        say("  held-out translations, cosine/first:", ", ".join(told))
        if held_pairs:
            truth = logits[torch.tensor([number for number, _, _ in held_pairs], device=device)]
            for name, at in (("both sides", 1), ("prompt only", 2)):
                found = read([row[at] for row in held_pairs])
                together = torch.corrcoef(torch.stack([truth, found.to(truth.device)]))[0, 1].item()
                say(f"  held-out pairs, {name}: correlation {together:.3f}, mean difference {(found - truth).abs().mean().item():.2f}, "
                    f"bias {(found - truth).mean().item():+.2f}")
        for language in (*LANGUAGES, "xx"):
            path = asked.eval / f"{language}.jsonl"
            if not path.exists():
                continue
            stored = [json.loads(line) for line in lines_of(asked.eval / f"{language}-memories.jsonl")]
            questions = [row for row in map(json.loads, lines_of(path)) if row["half"] == "tune" and row["type"] != "off topic"]
            english = [language == "xx"] * len(stored)
            vectors = embed([row["text"] for row in stored], english)
            asks = embed([row["prompt"] for row in questions], [row["form"] == "cross" and language != "xx" for row in questions])
            hits, odds = defaultdict(list), defaultdict(list)
            for row, vector in zip(questions, asks):
                among = [at for at, one in enumerate(stored) if one["project"] == row["project"]]
                best = [among[at] for at in (vectors[among] @ vector).topk(min(5, len(among))).indices.tolist()]
                ids = vocabulary.english_ids if row["form"] == "cross" and language != "xx" else vocabulary.ids
                theirs = vocabulary.english_ids if language == "xx" else vocabulary.ids
                score = read([two(ids(row["prompt"]), theirs(stored[at]["text"])) for at in best]).max().item()
                odds[row["type"]].append(score)
                if row["type"] == "answerable":
                    hits[row["form"]].append(any(stored[at]["id"] in row["gold"] for at in best))
            above = [float(a > b) for a in odds["answerable"] for b in odds["near miss"]]
            say(f"  {language}: hits@5", {form: f"{sum(one)}/{len(one)}" for form, one in hits.items()},
                f"AUC {sum(above) / max(1, len(above)):.3f}, median odds",
                {kind: round(float(np.median(values)), 1) for kind, values in odds.items()})

    shares = {"text": 0.39, "word": 0.08, "translation": 0.23, "switched": 0.25, "english": 0.05}

    def train(name):
        """`table` learns only rows, `layers` also layers of its own, `-noread` without the cross-encoder, `-N` keeps N layers."""
        torch.manual_seed(2)
        numbers = [int(part) for part in name.split("-") if part.isdigit()]
        count = numbers[0] if numbers else 6
        student = Encoder(minilm, None if count == 6 else [round(at * 5 / (count - 1)) for at in range(count)]).to(device)
        is_own = name.startswith("layers")
        table = nn.Parameter(started.clone())
        groups = [{"params": [table], "lr": 1.5e-3, "weight_decay": 0.0}]
        if is_own:
            student.requires_grad_(True)
            groups.append({"params": [part for part in student.parameters()], "lr": 2e-4, "weight_decay": 0.01})
        optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98))
        rate = lambda step: min(1, (step + 1) / 100) * max(0.02, 0.5 * (1 + np.cos(np.pi * step / asked.steps)))
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
        student.train()
        sums = Counter()
        for step in range(asked.steps):
            which = torch.cat([torch.randint(int(kinds[kind][0]), int(kinds[kind][1]), (max(1, int(asked.batch * share)),), device=device)
                               for kind, share in shares.items() if kind in kinds and kinds[kind][1] > kinds[kind][0]])
            lookup = torch.cat([table, english_rows])
            with autocast():
                found = in_chunks(own_store, which, lambda ids, mask: student.hidden(lookup[ids], mask).float(), 40_000)
                found = F.normalize(found, dim=-1)
                wanted = targets[target_of[which]].float()
                near = 1 - (found * wanted).sum(-1).mean()
                among = torch.randperm(len(which), device=device)[:1024]
                truth = F.softmax(wanted[among] @ wanted[among].T / 0.05, dim=-1)
                order = F.kl_div(F.log_softmax(found[among] @ wanted[among].T / 0.05, dim=-1), truth, reduction="batchmean")
                loss = 4 * near + order
                sums["near"] += near.item() if step % 20 == 0 else 0
                sums["order"] += order.item() if step % 20 == 0 else 0
                if "noread" not in name:
                    some = torch.cat([real[torch.randint(len(real), (192,), device=device)], unreal[torch.randint(len(unreal), (192,), device=device)]]) \
                        if len(real) else unreal[torch.randint(len(unreal), (384,), device=device)]
                    ids, mask = gathered(pair_store, some)
                    second = (torch.arange(ids.shape[1], device=device) >= firsts[some][:, None]) & mask
                    said = reader.verdict(reader.hidden(lookup[ids], mask, second)).squeeze(-1).float()
                    wrong = F.smooth_l1_loss(said, logits[pair_target[some]], beta=1.0)
                    loss = loss + 0.3 * wrong
                    sums["read"] += wrong.item() if step % 20 == 0 else 0
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            if (step + 1) % max(1, asked.steps // 4) == 0:
                many = max(1, asked.steps // 4 / 20)
                say(f"  {name} step {step + 1}:", {key: round(value / many, 4) for key, value in sums.items()})
                sums.clear()
        return table.detach(), student

    for name in asked.variants.split(","):
        if time.time() - began > asked.minutes * 60:
            say(f"no time for {name}")
            continue
        say(f"variant {name}")
        table, student = train(name)
        scale = table.abs().amax(1, keepdim=True) / 127
        table = torch.round(table / scale) * scale
        if asked.eval:
            evaluate(table, student)
        np.savez(f"{asked.out}-{name}.npz", rows=torch.round(table / scale).to(torch.int8).cpu().numpy(),
                 scale=scale.squeeze(1).float().cpu().numpy())
        if name.startswith("layers"):
            parts = {key: part.detach().float() for key, part in student.named_parameters()}
            scales = {key: part.abs().amax(1, keepdim=True) / 127 for key, part in parts.items() if part.ndim == 2 and "layers" in key}
            np.savez(f"{asked.out}-{name}-layers.npz", **{key: part.cpu().numpy() for key, part in parts.items() if key not in scales},
                     **{f"{key}.q": torch.round(parts[key] / scale).to(torch.int8).cpu().numpy() for key, scale in scales.items()},
                     **{f"{key}.s": scale.cpu().numpy() for key, scale in scales.items()})
        say(f"wrote {asked.out}-{name}.npz")


if __name__ == "__main__":
    main()
