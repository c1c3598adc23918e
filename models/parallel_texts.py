#!/usr/bin/env python3
"""Extracts English texts and their translations from free software, to teach the multilingual token table.

Usage: parallel_texts.py FOLDER OUT

FOLDER holds the source archives that `parallel_texts.py --names` lists with their SHA-256, as Debian distributes them:

    apt-get source --download-only $(models/parallel_texts.py --names | cut -d' ' -f2 | sort -u)

Each archive contains gettext catalogues or a dictionary. OUT (compressed by xz) gets a line per English text: its kind
(`text` or `word`), the text, then language and translation for each translation, separated by tabs. Needs nothing but
Python, and some minutes.
"""
import hashlib
import html
import lzma
import pathlib
import re
import sys
import tarfile
import zlib
from collections import defaultdict

LANGUAGES = {"de": "de", "es": "es", "fr": "fr", "pt": "pt", "pt_BR": "pt", "pt-BR": "pt"}
# Archive, its Debian source package, and the SHA-256.
ARCHIVES = [line.split() for line in """
freedict_2022.04.21.orig.tar.xz freedict=2022.04.21-1 54abc6c56faf877102f8048dc920229c88a4dd520dbff311ac36bfec5cbf02f9
ding_1.9.orig.tar.gz ding=1.9-6 69a6c81fcf785a286c053a352f3201cc8671c72851615c4b707a434309b098e5
wesnoth-1.16_1.16.9.orig.tar.bz2 wesnoth-1.16=1:1.16.9-1 3ded6938fb24100b9884ab5a902711f6c7a25cef65aafddb3e3b8a15b7652386
widelands_1.3.1.orig.tar.gz widelands=2:1.3.1-4 e6f3e8f4fcafd367962dbacde80e26fc63afad38cfe26fadba9c92d4a01bd687
libreoffice_7.4.7.orig-translations.tar.xz libreoffice=4:7.4.7-1+deb12u14 cf772d54d17fa58318dcecd064c520481d0f98a16b872d899098df3a321c247f
supertux_0.6.3.orig.tar.xz supertux=0.6.3-5 bf441b6e5dad9b165deecbf2daa313f680f3e14d5c457893bb2ad333acf1af9d
kicad_6.0.11+dfsg.orig-doc.tar.xz kicad=6.0.11+dfsg-1 47f082d4f08068a0a3c00d1814513a55e37af11cd73a8fd08b1e8ac225f1af5b
calligra_25.04.2+dfsg.orig.tar.xz calligra=1:25.04.2+dfsg-1 eb71a6f712d49a10c932ffb8ba4ce1c50e0e6a34cc113cd2b22ede434901527f
freeciv_3.2.6+ds.orig.tar.xz freeciv=3.2.6+ds-1 00ee97fe723d50c9667eb22bebee3f79d3b41ebbb5468919553e52c6f614bd8a
inkscape_1.4.3.orig.tar.xz inkscape=1.4.3-2 e83a2c3db570b6c5a1ff0fccfe7098837b3f6bd74b133567937c8a91710ed1d1
debian-edu-doc_2.12.23~deb12u1.tar.xz debian-edu-doc=2.12.23~deb12u1 4c4b3f93e7127712be0e465420ebe693df0e7549b1dc464f0d0e2487e955a7e3
postgresql-17_17.11.orig.tar.bz2 postgresql-17=17.11-0+deb13u1 dd27f2b3c59e73ed14aa3324901242bf69a032a6347805f274e6260322d42979
lyx_2.5.3.orig.tar.xz lyx=2.5.3-2 9925c40421cf50a72a998479256608d157d64aca167d8ab3f6956a5240159ab1
plasma-workspace_6.7.4.orig.tar.xz plasma-workspace=4:6.7.4-2 21ec3c002929eb65377a1ae0eb105b9ab6f608049dac5493e188f51bd50398d5
gtk4_4.18.6+ds.orig.tar.xz gtk4=4.18.6+ds-2 02494d266ccfc6a0c54bb364573c429025bc42698a9fed1fdf9905f414e52332
plasma-desktop_6.7.4.orig.tar.xz plasma-desktop=4:6.7.4-1 c2f0c2b7ab70cbd99ef17ffad4c3117dab12ef6a71790da33e39688386474962
systemd_257.13.orig.tar.gz systemd=257.13-1~deb13u1 1eb7d5f9ff8a426ff880a3cded9ce819613ba8003ac5ddde9eca162f14ddabe7
evolution_3.56.2.orig.tar.xz evolution=3.56.2-10 7dfdc9aeb2dab326dabfdc1f8577c4ecc123a12da0012f8c64a726065a3c0b2b
kmymoney_5.1.3.orig.tar.xz kmymoney=5.1.3-2 3938b8078b7391ba32e12bb4239762fae134683a0c2ec1a75105c302ca3e5e3f
subversion_1.14.5.orig.tar.gz subversion=1.14.5-6 cd143fe8fdb1cd506c438eef1c772a2e87e1519e6b0be3fcd54a8c59e9022390
util-linux_2.42.4.orig.tar.xz util-linux=2.42.4-1 fbd62a100ab7bb8746ba0661255c3c48185b1e9021507c624da01fbc696330ec
gnucash_5.16.orig.tar.xz gnucash=1:5.16-2 43aa7cc5769e1303888a1a80e99f6f18d979f62b469d2dfcd77b10277ad14310
gitg_44.orig.tar.xz gitg=44-2 5b0e99ab3e7b94b0daa98ca8041d5ec9280ee0a2c28338a5506a968ac52e2354
python-django_4.2.28.orig.tar.gz python-django=3:4.2.28-0+deb13u2 a4b9cd881991add394cafa8bb3b11ad1742d1e1470ba99c3ef53dc540316ccfe
gnome-builder_43.6.orig.tar.xz gnome-builder=43.6-3 9b4f213dd968c952fbe4226850f5c9564ddfd578a6a0f893d3a2b6ae19a377a9
phpmyadmin_5.2.2-really+dfsg.orig.tar.xz phpmyadmin=4:5.2.2-really+dfsg-1+deb13u1 762813db34708e92c1bee133e6c769e7c4415a17cc86d7778ab62bff67a7096e
geany_2.1.orig.tar.gz geany=2.1-2 8da944e82f78f3c4c6e6b054b7c562ab64ea37d4a3e7dc8576bed8a8160d3c2a
mercurial_7.2.4.orig.tar.gz mercurial=7.2.4-2 85839e0f39e6cb893a88932aa36ef661759f3c5c5de4551ad26bd9df53cb71a2
kdevelop_24.12.3.orig.tar.xz kdevelop=4:24.12.3-1 cd2b776b657ec7eca2f72b6704af64f8b43eb62fb392779238020c987116aab2
kate_25.04.3.orig.tar.xz kate=4:25.04.3-2 1d4546f8382e1e3bc8410be1c1af88e06eb66ce12c8160c4c84ac28bfb618e97
okular_25.04.2.orig.tar.xz okular=4:25.04.2-1+deb13u1 bf2102fe7769b504e1934d46bf299398a6529fa2a96ca302bf7898c131b25cea
gnupg2_2.4.9.orig.tar.bz2 gnupg2=2.4.9-8 dd17ab2e9a04fd79d39d853f599cbc852062ddb9ab52a4ddeb4176fd8b302964
kmail_24.12.3.orig.tar.xz kmail=4:24.12.3-1 20caaa4fabcfe2d2c73a0391f94dbc91b265707ab3a6f75def1a7300d97870d7
git_2.39.5.orig.tar.xz git=1:2.39.5-0+deb12u3 c58da92c378df4a986ca33266897a7397e86c22ee266a284d8c2432c39066b59
gnome-control-center_48.4.orig.tar.xz gnome-control-center=1:48.4-1~deb13u1 2a20eee6e05c8d3addaeefa524dce1ee9f88a77d838e3fd1edef3c0c2e467ad2
coreutils_9.10.orig.tar.xz coreutils=9.10-1 16535a9adf0b10037364e2d612aad3d9f4eca3a344949ced74d12faf4bd51d25
dpkg_1.23.7.tar.xz dpkg=1.23.7 60fe2be72e5f0a4bb0ac7baff3b1697ebc5cfaac1885f66649521571a97440ad
dolphin_25.04.3.orig.tar.xz dolphin=4:25.04.3-1+deb13u1 e822faf02d3d727faf14789eacd331288cb8a74bb9b9881f1e7cd1789752c3f1
bash_5.3.orig.tar.xz bash=5.3-4 a70de6bb41f5e192534a5a1836b1d7fad9a8d4818a6e1506d70f38441552c17a
aptitude_0.8.13.orig.tar.xz aptitude=0.8.13-5 0ef50cb5de27215dd30de74dd9b46b318f017bd0ec3f5c4735df7ac0beb40248
po4a_0.74.orig.tar.gz po4a=0.74-3 6e390eb7707501a86f2e648d78fddb0d211d1e8699aa1ee201176e9f966a798b
kio_5.116.0.orig.tar.xz kio=5.116.0-2 efb719d6659c39a03b165dca3b6c84f729a833290fc44e7e1f99625690b6115a
nautilus_48.3.orig.tar.xz nautilus=48.3-2 21a2aea005160db083c7a1d4d2c0989b845cc722c04ef9ebb60125a7ec5b393d
korganizer_24.12.3.orig.tar.xz korganizer=4:24.12.3-1 1971118128338627309fa86fde08d4a6d3c48c08be90c5b8dee06b319e62e514
thunar_4.18.4.orig.tar.bz2 thunar=4.18.4-1 c4463ce2fb1d628adce70a828e8b4de5fa0802236894d2c40f749471619bedcc
gedit_48.1.orig.tar.xz gedit=48.1-4 971e7ac26bc0a3a3ded27a7563772415687db0e5a092b4547e5b10a55858b30a
apt_3.0.3.tar.xz apt=3.0.3 5b5f6f6d26121742a83aa80d4ed0eb0c6ce9bea259518db412edefd95760e4ef
shadow_4.17.4.orig.tar.xz shadow=1:4.17.4-2 554801054694ff7d8a7abdf0d6ece34e2f16e111673cc01b8c9ee1278451181e
akregator_24.12.3.orig.tar.xz akregator=4:24.12.3-1 1b0b25bee2e4d538eb7e1c9d0a0da8c62036f72456459f090a14744fb71eaf44
konsole_25.04.2.orig.tar.xz konsole=4:25.04.2-1 69cd6c7e84cbcb3df41227cd3115498a5aaddca6641802898d79e5b4e467bbfb
xfce4-settings_4.18.2.orig.tar.bz2 xfce4-settings=4.18.2-1 4661361087faae57efb49741ffcf90bf9078760e163bbdef63b924083bdc4f22
kdevelop-php_24.12.3.orig.tar.xz kdevelop-php=24.12.3-1 77974504732b1f47ce87edae9b170abd44dc95eabb3d3f7917a7e551961a6f88
devscripts_2.25.15+deb13u1.tar.xz devscripts=2.25.15+deb13u1 d91d27930dd6b99573752b77e5a4821ce5f6eec82b95f765dce39744ab5b97ef
mousepad_0.5.10.orig.tar.bz2 mousepad=0.5.10-2 6ebaf38d52bee5560d9650c52a693f8a6ed0a67d88cc938d73f7d5ce13552bad
meld_3.22.3.orig.tar.xz meld=3.22.3-1 37f7f29eb1ff0fec4d8b088d5483c556de1089f6d018fe6d481993caf2499d84
debconf_1.5.92.tar.xz debconf=1.5.92 72265cb0315c0cc58a0d5abf0c032ffac2d071c8ba05bf830f9e0e73ca8ab219
debhelper_13.11.4.tar.xz debhelper=13.11.4 9ed846bb34f1a5501894d06c9f30e4831f9c18e0b03e1a177ceac7eb63212b42
""".strip().splitlines()]
BLOCK = re.compile(r"\n\s*\n")
FIELD = re.compile(r'^(msgid_plural|msgctxt|msgid|msgstr(?:\[0\])?) ((?:"(?:[^"\\]|\\.)*"\s*)+)', re.M)
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPE = {"n": "\n", "t": " ", '"': '"', "\\": "\\"}
TEI_ENTRY = re.compile(r"<entry.*?</entry>", re.S)
TAG = re.compile(r"</?[a-zA-Z][^<>]*/?>|\\?<[^<>]*\\?>")


def unquote(field):
    joined = "".join(QUOTED.findall(field))
    return re.sub(r"\\(.)", lambda found: ESCAPE.get(found[1], ""), joined)


def clean(text):
    """Drops markup, accelerators and formatting of manual pages."""
    text = re.sub(r"\\f?\([A-Za-z]{2}|\\f[A-Z]|\\[|&%e]", "", text.replace("\\-", "-"))
    text = re.sub(r"\b[BIECFRSL]<+ ?|(?<=\w)>+", " ", text) if re.search(r"\b[BIECFRSL]<", text) else text
    text = html.unescape(TAG.sub(" ", text))
    text = re.sub(r"\$\[officename\]|%PRODUCTNAME", "LibreOffice", text)
    text = re.sub(r"[~_&](?=[A-Za-zÀ-ÿ])(?<![A-Za-zÀ-ÿ0-9~_&].)", "", text)
    text = text.split("^")[-1] if re.match(r"^[a-z_ ]+\^", text) else text
    return " ".join(text.split())


def pairs_of_catalogue(data):
    for block in BLOCK.split(data):
        if "msgid" not in block or re.search(r"^#,.*fuzzy", block, re.M):
            continue
        fields = dict((name, value) for name, value in FIELD.findall("\n".join(line for line in block.splitlines() if line[:1] != "#")))
        english, other = clean(unquote(fields.get("msgid", ""))), clean(unquote(fields.get("msgstr") or fields.get("msgstr[0]", "")))
        yield english, other


def words_of_tei(name, data):
    first, second = pathlib.PurePath(name).stem.split("-")
    codes = {"deu": "de", "spa": "es", "fra": "fr", "por": "pt"}
    for entry in TEI_ENTRY.findall(data):
        head = re.search(r"<orth>(.*?)</orth>", entry)
        for quote in re.findall(r"<quote>(.*?)</quote>", entry)[:6]:
            both = clean(head[1]) if head else "", clean(quote)
            english, other = both if first == "eng" else both[::-1]
            yield codes[second if first == "eng" else first], english, re.sub(r" ?\(.*?\)| ?\[.*?\]", "", other)


def words_of_ding(data):
    plain = lambda text: " ".join(re.sub(r"\{[^}]*\}|\[[^\]]*\]|\([^)]*\)|/[^/]*/", " ", text).split())
    for line in data.splitlines():
        if line.startswith("#") or " :: " not in line:
            continue
        german, english = line.split(" :: ", 1)
        for own, other in zip(german.split("|"), english.split("|")):
            theirs = [plain(part) for part in other.split(";")[:2]]
            for word in own.split(";")[:3]:
                for one in theirs:
                    yield "de", one, plain(word)


def members(path):
    with tarfile.open(path) as archive:
        for member in archive:
            name = member.name
            stem = pathlib.PurePath(name).stem
            if not member.isfile():
                continue
            if name.endswith(".po"):
                folder = next((part for part in reversed(pathlib.PurePath(name).parts[:-1]) if part in LANGUAGES), None)
                code = stem if stem in LANGUAGES else folder
                if code:
                    yield "po", LANGUAGES[code], archive.extractfile(member).read().decode("utf-8", "replace")
            elif re.fullmatch(r"(eng-(deu|spa|fra|por)|(deu|spa|fra|por)-eng)\.tei", pathlib.PurePath(name).name):
                yield "tei", stem, archive.extractfile(member).read().decode("utf-8", "replace")
            elif name.endswith("de-en.txt"):
                yield "ding", "de", archive.extractfile(member).read().decode("utf-8", "replace")


def usable(english, other, is_word):
    if not english or not other or len(english) > 700 or len(other) > 900:
        return False
    if is_word:
        return len(english.split()) <= 5 and len(other.split()) <= 6
    words, theirs = len(english.split()), len(other.split())
    letters = sum(char.isalpha() for char in other)
    return theirs >= 2 and letters > len(other) * 0.55 and 0.4 <= (words + 2) / (theirs + 2) <= 2.2 and english.lower() != other.lower()


def kept(language, sort, english, other):
    """Keeps an eighth of the German dictionary, which is much larger than the others, and texts that fit a window."""
    line = "\t".join((language, sort, english, other)) + "\n"
    return len(other) <= 260 if sort == "text" else language != "de" or zlib.crc32(line.encode()) % 100 < 12


def main():
    if sys.argv[1:] == ["--names"]:
        print("\n".join(" ".join(parts) for parts in ARCHIVES))
        return
    folder, out = map(pathlib.Path, sys.argv[1:])
    seen, counts, texts = set(), {}, defaultdict(list)
    for archive, package, expected in ARCHIVES:
        path = folder / archive
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        assert digest == expected, f"{path}: SHA-256 is {digest}, expected {expected}"
        for kind, language, data in members(path):
            if kind == "po":
                found = ((language, "text", *pair) for pair in pairs_of_catalogue(data))
            elif kind == "tei":
                found = ((one, "word", english, other) for one, english, other in words_of_tei(language + ".tei", data))
            else:
                found = ((one, "word", english, other) for one, english, other in words_of_ding(data))
            for one, sort, english, other in found:
                key = one, english.lower(), other.lower()
                if key in seen or not usable(english, other, sort == "word") or not kept(one, sort, english, other):
                    continue
                seen.add(key)
                counts[package, one] = counts.get((package, one), 0) + 1
                texts[sort, english].append(f"{one}\t{other}")
    with lzma.open(out, "wt", encoding="utf-8") as file:
        for (sort, english), others in texts.items():
            file.write("\t".join((sort, english, *others)) + "\n")
    for (package, one), count in counts.items():
        print(f"{package} {one}: {count} pairs")


if __name__ == "__main__":
    main()
