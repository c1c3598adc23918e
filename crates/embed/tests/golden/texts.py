"""The texts of the golden files, made from a fixed seed: nothing here comes from anybody's notes."""

import random

# Decomposed since Unicode 13 and 16, which the reference's tables do not know. No vocabulary has these letters, so
# a word with one of them is unknown either way.
NEWER = [0x105C9, 0x105E4, 0x11383, 0x11385, 0x1138E, 0x11391, 0x113C5, 0x113C7, 0x113C8, 0x11938, *range(0x16121, 0x16129),
         *range(0x16D68, 0x16D6B)]
SUBJECTS = """the nightly backup;our login page;the payment service;the search index;a flaky integration test;
the release script;the staging database;my sourdough starter;the garden irrigation;the onboarding guide;
the connection pool;the mobile client;the vector cache;the invoice export;the weekly review;the CI runner;
the telescope mount;the bicycle's rear hub;the rate limiter;the feature flag service;the rental contract;
the parser for dates;the memory allocator;the thermostat;the choir rehearsal;the email templates""".replace("\n", "").split(";")
EVENTS = """failed twice after the upgrade;was moved to the new region;needs a lock around the write;
turned out to be slower than we thought;is owned by Priya since March;broke because of a stale cookie;
was rewritten in Rust over the weekend;must never run on the main branch;keeps timing out at midnight;
should be checked by hand first;works again since the certificate was renewed;got twice as fast with batching;
was cancelled by the vendor without notice;has to be watered every other day;lost three events on a crash;
is documented only in the old wiki;returned HTTP 502 for eleven minutes;prefers tabs over spaces""".replace("\n", "").split(";")
REASONS = """because the clock went backwards;since nobody read the log;so we agreed to wait for the audit;
which explains the strange graph from Tuesday;and the fix is a one-line change in the config;
although the tests were green;and I would rather not touch it before the holidays;
because two workers claimed the same job;as the old key had expired;and the cost dropped by 40 %;
so the next person should start from the runbook;even though the budget was 300 ms;
because the index was rebuilt with the wrong dimension;and the customer was told on Friday""".replace("\n", "").split(";")
OPENERS = """We decided that;Remember:;It seems that;Note for later:;Yesterday I learned that;The team found that;
For the record,;After some digging:;Short version:;Honestly,;As of version 2.4,;In the meeting we said that""".replace("\n", "").split(";")
QUESTIONS = """why did {s} break;who owns {s};what did we decide about {s};how do I restart {s};when was {s} last changed;
is it safe to delete {s};where is the runbook for {s};{s} slow;fix {s};what happened to {s} last week""".replace("\n", "").split(";")
CODE = r"""fn main() { println!("{}", 1 + 2); }
for (let i = 0; i < xs.length; i++) { total += xs[i] ?? 0; }
SELECT id, name FROM users WHERE created_at > now() - interval '7 days' ORDER BY id DESC LIMIT 20;
def __init__(self, *args, **kwargs): super().__init__(*args, **kwargs)
git rebase --interactive HEAD~3 && git push --force-with-lease origin feature/memory-index
error[E0502]: cannot borrow `self.items` as mutable because it is also borrowed as immutable
thread 'main' panicked at src/index/writer.rs:412:17: index out of bounds: the len is 3 but the index is 7
/usr/local/lib/python3.11/site-packages/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so
C:\Users\someone\AppData\Local\Temp\rekindle\state\index\0000000017\vectors.bin
const MAX_RETRIES: u32 = 5; // see snake_case_name, camelCaseName, SCREAMING_CASE and kebab-case-name
{"level":"warn","ts":"2024-02-29T23:59:59.999Z","msg":"slow query","ms":1834,"trace":"4bf92f3577b34da6"}
docker run --rm -it -p 127.0.0.1:6379:6379 redis:7.0-alpine redis-server --save "" --appendonly no
x = (a ^ b) | ~c & 0xDEADBEEF << 3 >>> 1 % 7 != y === z <=> w
<div class="card" data-id='42'><a href="https://example.org/a?b=c&d=e#f">link</a></div>
#include <immintrin.h> __m512i acc = _mm512_dpbusd_epi32(acc, a, b);
\begin{equation} \int_0^\infty e^{-x^2} dx = \frac{\sqrt{\pi}}{2} \end{equation}
sk_live_0000000000000000EXAMPLE AKIAEXAMPLEEXAMPLE00 ghp_exampleexampleexampleexample
2001:0db8:85a3::8a2e:0370:7334 192.168.0.1/24 00:1a:2b:3c:4d:5e v1.2.3-rc.4+build.5
$ curl -fsSL 'https://example.com/install.sh' | sh -s -- --yes 2>&1 | tee /tmp/log.txt
RUSTFLAGS="-C target-cpu=native" cargo build --release --package rekindle-embed""".split("\n")
SCRIPTS = """Größe, Straße, naïve café, señor, Ærøskøbing, Łódź, İstanbul, ŞIŞLI, ﬁnd ﬂow
Η γρήγορη καφέ αλεπού πηδά πάνω από το τεμπέλικο σκυλί, ΟΔΥΣΣΕΥΣ και Σίσυφος
Быстрая коричневая лиса прыгает через ленивую собаку, Ёлка и йод
الثعلب البني السريع يقفز فوق الكلب الكسول، مُحَمَّد
השועל החום המהיר קופץ מעל הכלב העצלן, שָׁלוֹם
तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है। क्षत्रिय
দ্রুত বাদামী শিয়াল অলস কুকুরের উপর লাফ দেয়
สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัขขี้เกียจ
敏捷的棕色狐狸跳过了懒狗。数据库在午夜备份，索引需要重建！
素早い茶色の狐がのろまな犬を飛び越える。カタカナとﾊﾝｶｸ、がぎぐげご
빠른 갈색 여우가 게으른 개를 뛰어넘는다. 한국어 메모
Con cáo nâu nhanh nhẹn nhảy qua con chó lười biếng; tiếng Việt có dấu
სწრაფი ყავისფერი მელა, ᲡᲬᲠᲐᲤᲘ
Արագ շագանակագույն աղվեսը
ቀልጣፋው ቡናማ ቀበሮ
မြန်ဆန်သော အညိုရောင် မြေခွေး
𐐀𐐁𐐂 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝟘𝟙𝟚 ①②③ ½ ™ № ℡ ㎏ Ａｂｃ１２３
日本語とEnglishのmix、version2.0をtestする
中文English混合，路径/home/用户/笔记.md，错误码E0502
ǅ ǈ ǋ Dž ß ẞ ſ K Å Ω ϐ ς σ Σ İ ı""".split("\n")
EMOJI = """Deploy done 🚀🚀 everything green ✅ thanks 🙏🏽
👨‍👩‍👧‍👦 family, 👩🏿‍💻 coder, 🏳️‍🌈 flag, 🇩🇪🇫🇷🇯🇵 flags, 1️⃣ keycap, ☠️ ❤️‍🔥
:-) ;-P ¯\\_(ツ)_/¯ (╯°□°）╯︵ ┻━┻ ʕ•ᴥ•ʔ
tick ✔ cross ✘ arrow → ⇒ ↔ box ░▒▓█ math ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ ≤ ∞""".split("\n")
RELATED = """The cat sat quietly on the warm windowsill.
A kitten was resting on the sunny ledge by the window.
Restarting the database server fixed the timeout errors.
The timeouts went away once we rebooted Postgres.
He bakes bread every Sunday morning.
Quarterly revenue grew by eight percent.""".split("\n")


def sentence(rng):
    return f"{rng.choice(OPENERS)} {rng.choice(SUBJECTS)} {rng.choice(EVENTS)}, {rng.choice(REASONS)}."


def memory(rng, low=60, high=120):
    words, target = [], rng.randint(low, high)
    while len(words) < target:
        words += sentence(rng).split()
    return " ".join(words[:target])


def vectors():
    """500 texts for the golden vectors."""
    rng = random.Random(20240229)
    texts = list(RELATED) + CODE + SCRIPTS + EMOJI
    texts += ["", " ", "a", "?", "the", "hello", "[UNK]", "☃", "x" * 300, "word " * 400, "0 1 2 3 4 5 6 7 8 9"]
    texts += [memory(rng, 300, 600) for _ in range(12)]
    for i in range(140):
        texts.append(rng.choice(QUESTIONS).format(s=rng.choice(SUBJECTS)) + rng.choice(["", "?", " today?"]))
    for i in range(90):
        texts.append(sentence(rng))
    for i in range(20):
        texts.append(f"{rng.choice(CODE)} {sentence(rng)} {rng.choice(SCRIPTS)}")
    while len(texts) < 500:
        texts.append(memory(rng))
    assert len(texts) == 500
    return texts


def tokens():
    """Texts for the golden tokenisation: everything a person, a terminal or a broken file may hand over."""
    rng = random.Random(19700101)
    texts = ["", " ", "\t\n\r ", "\u00a0\u2003\u3000\u2028\u2029\u0085", "a", "A", ".", "...", "a.b", "-", "--flag=value",
             "don't can't I'm rock'n'roll", "U.S.A. e.g. i.e.", "3.14159 1,000,000 -42 1e-9 0x1F", "hello world",
             "unaffable unbelievable antidisestablishmentarianism pneumonoultramicroscopicsilicovolcanoconiosis"]
    texts += CODE + SCRIPTS + EMOJI + RELATED
    # Special tokens written out, whole, broken, glued and in the wrong case.
    texts += ["[CLS]", "[SEP] [PAD] [MASK] [UNK] [CLS]", "a[MASK]b", "[mask]", "[MASK", "[[SEP]]", "MASK]", "[ CLS ]",
              "[SEP][SEP]", "x[UNK]y[unk]z", "[UNUSED1] [unused1] ##ing ing ##", "[M\u0301ASK]", "[CLS]\u0301"]
    # Control, format, private, unassigned, non-characters.
    texts += ["a\x00b\x01c\x7fd", "zero\u200bwidth\u200cjoin\u200der\ufeffbom", "soft\u00adhyphen", "\ufffd bad \ufffdbytes",
              "\u202eright to left\u202c", "priv\ue000ate \U000f0000 \U0010ffff", "\ufdd0non\uffffchar", "\x1b[31mred\x1b[0m",
              "line1\r\nline2\rline3\x0bline4\x0cline5", "tag\U000e0041\U000e007f", "\u2066iso\u2069 \u061c \u180e x"]
    # Combining marks: composed, decomposed, stacked, out of order, alone, across removed characters.
    texts += ["e\u0301 \u00e9 E\u0301 \u00c9", "a\u0315\u0300\u05ae\u0300b", "\u0301", " \u0301\u0301 ", "z\u0351\u0324\u0300a\u034fl\u0362go",
              "q\u0307\u0323 q\u0323\u0307", "\u1e9b\u0323 \u1e69", "a\u200d\u0301b", "\u3099\u309a か\u3099", "\u0b47\u0b56 \u0dd9\u0dca",
              "\U0001d15e\U0001d165\U0001d16e", "\u302e\u0316\u302f", "\u212b \u2126 \uf900 \U0002f800", "\u0958\u0929\u0931",
              "한\u1100\u1161\u11a8각", "o\u0308\u0304 \u022b", "i\u0307 \u0130 \u0131 I\u0307"]
    texts += [f"new {chr(c)}letter{chr(c)}" for c in NEWER]
    # Words of and around the length limit, in characters after normalisation.
    for n in (1, 2, 50, 99, 100, 101, 102, 200, 1000):
        texts += ["a" * n, "é" * n, "ab" * n + " tail", "." * n, "語" * n, "각" * n, "ß" * n]
    texts += ["x" * 99 + "e\u0301", "x" * 100 + "\u0301", "x" * 100 + "\u0301y", "a-" * 300, "q" * 10000, "the " * 3000, "名" * 3000]
    texts += [" ".join(memory(rng, 300, 400) for _ in range(6))[:10000], "\u0301" * 10000, "a" + "\u0301" * 9999, " " * 10000]
    texts += ["/".join(rng.choice("src lib index memory.rs mod café 日本 node_modules".split()) for _ in range(n)) for n in (3, 10, 400)]
    # One character of every part of Unicode, glued between letters.
    ranges = [(0x20, 0x7f), (0x80, 0x250), (0x250, 0x600), (0x600, 0xa00), (0xa00, 0x1200), (0x1200, 0x2000), (0x2000, 0x2c00),
              (0x2c00, 0x3400), (0x3400, 0xa000), (0xa000, 0xd800), (0xe000, 0x10000), (0x10000, 0x12000), (0x12000, 0x1d000),
              (0x1d000, 0x20000), (0x20000, 0x31000), (0xe0000, 0x110000)]
    for low, high in ranges:
        for _ in range(6):
            texts.append("".join(chr(rng.randrange(low, high)) for _ in range(rng.randint(1, 60))))
            texts.append(" ".join("n" + chr(rng.randrange(low, high)) + "e" for _ in range(40)))
    # Everything at once.
    pieces = CODE + SCRIPTS + EMOJI + ["[SEP]", "\x00", "\u200d", "\u0301", "x" * 101, "\n\n", "語"]
    for _ in range(60):
        texts.append(rng.choice(["", " ", "|"]).join(rng.choice(pieces)[rng.randrange(4):] for _ in range(rng.randint(1, 5))))
    for _ in range(30):
        texts.append(memory(rng))
    return texts
