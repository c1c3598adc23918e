"""Makes the golden files and src/characters.rs from the reference packages.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 tokenizers==0.23.3
    venv/bin/python make.py <folder with model.safetensors and tokenizer.json>

`models/make.sh --keep FOLDER` leaves such a folder. Tables and tokens come out the same every time; a vector may
differ in its last bit where numpy adds up in another order.
"""

import json
import pathlib
import struct
import sys
import zlib

import numpy as np
from tokenizers import Tokenizer, normalizers, pre_tokenizers

import reference
import texts

HERE = pathlib.Path(__file__).parent
MAX_TOKENS = 256
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def ranges(points):
    found = []
    for point in points:
        if found and found[-1][1] + 1 == point:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def characters():
    """The reference's own idea of a character, asked one code point at a time."""
    off = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    clean = normalizers.BertNormalizer(**{**off, "clean_text": True})
    strip = normalizers.BertNormalizer(**{**off, "strip_accents": True})
    split = pre_tokenizers.BertPreTokenizer()
    removed = [c for c in CODE_POINTS if clean.normalize_str(chr(c)) == ""]
    marks = [c for c in CODE_POINTS if strip.normalize_str(chr(c)) == ""]
    punctuation = [c for c in CODE_POINTS if len(split.pre_tokenize_str(f"a{chr(c)}b")) == 3]
    out = [
        "//! Classes of characters as the reference tokenizer has them; made by tests/golden/make.py, not edited.",
        "//!",
        "//! Its Unicode tables are of another version than the standard library's, and agreement is the point.",
        "",
        "/// Inclusive ranges of code points, in order.",
        "pub(crate) type Ranges = &'static [(u32, u32)];",
    ]
    for name, doc, points in (
        ("REMOVED", "Control, format and other characters that cleaning drops.", removed),
        ("MARKS", "Nonspacing marks: what is left of an accent after decomposition.", marks),
        ("PUNCTUATION", "Characters that stand as words of their own.", punctuation),
    ):
        out += ["", f"/// {doc}", "#[rustfmt::skip]", f"pub(crate) const {name}: Ranges = &["]
        line = "   "
        for low, high in ranges(points):
            item = f" (0x{low:x}, 0x{high:x}),"
            if len(line) + len(item) > 110:
                out.append(line)
                line = "   "
            line += item
        out += [line, "];"]
    (HERE / "../../src/characters.rs").write_text("\n".join(out) + "\n")


def unicode(tokenizer):
    """For each block of 256 code points, the CRC of the words that `a<c>B` turns into, to test all of Unicode."""
    sums = []
    for block in range(0, 0x110000, 256):
        crc = 0
        for c in range(block, block + 256):
            if 0xD800 <= c < 0xE000 or c in texts.NEWER:
                continue
            normal = tokenizer.normalizer.normalize_str(f"a{chr(c)}B")
            words = [word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]
            crc = zlib.crc32("\n".join(words).encode() + b"\0", crc)
        sums.append(crc)
    (HERE / "unicode.crc").write_bytes(struct.pack(f"<{len(sums)}I", *sums))


def main():
    folder = pathlib.Path(sys.argv[1])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    characters()
    unicode(tokenizer)
    cases = [[text, tokenizer.encode(text).ids] for text in texts.tokens()]
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
    (HERE / "tokens.json").write_text(f"[{lines}]\n")
    print(len(cases), "tokenised texts")
    weights = reference.load(folder / "model.safetensors")
    golden = texts.vectors()
    lines = ",\n".join(json.dumps(text) for text in golden)
    (HERE / "texts.json").write_text(f"[{lines}]\n")
    with open(HERE / "vectors.i16", "wb") as file:
        for text in golden:
            vector = reference.embed(weights, np.array(tokenizer.encode(text).ids))
            file.write(np.round(vector * 32767).astype("<i2").tobytes())


if __name__ == "__main__":
    main()
