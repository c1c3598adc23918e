"""Compares redaction with the rules that gitleaks publishes (B-03).

Usage: python3 eval/secrets_gitleaks.py GITLEAKS_TOML REDACT [--harmless FOLDER]... [--show RULE] [--answers FILE]

REDACT is the example program `redact` of rekindle-core. `scripts/secrets-gitleaks.sh` builds it and runs this.

Secrets: for every rule, seeded strings that its regular expression matches are put into realistic texts. Both sides see the
same texts. A secret counts as caught by Rekindle if no piece of eight characters that belongs to this secret alone survives,
and by gitleaks if the rule finds it there and keeps it after its entropy threshold and its allow lists.

Harmless texts: this repository without its examples of secrets, generated UUIDs, commit hashes, lock files and images, and
every text file below a folder given with `--harmless`. Counts what each side flags.
"""

import argparse
import base64
import collections
import json
import math
import pathlib
import random
import re
import string
import subprocess
import sys
import tomllib
import uuid
import warnings

warnings.filterwarnings("ignore", category=DeprecationWarning)
import sre_constants as sre  # noqa: E402
import sre_parse  # noqa: E402

PER_RULE = 12
MOST_REPEATED = 24
PIECE = 8
# What `.`, `\S` and negated classes draw from. Drawing line breaks or quotes would make texts that nobody writes.
PLAIN = string.ascii_letters + string.digits
# Texts for rules that describe the surroundings too: `{32}` is a secret of so many letters and digits, `{16/+}` also with these
# signs. What is drawn is the secret.
FRAMES = {
    "curl-auth-header": [
        'curl -s -H "Authorization: Bearer {40}" https://api.example.com/v1/items\n',
        "curl --header 'X-Api-Key: {32}' https://api.example.com/v1/items\n",
        'curl -X POST -H "Authorization: Token {40}" -d @body.json https://api.example.com\n',
        'curl -H "Authorization: {36}" https://api.example.com\n',
        'curl -H "Token: {24}" https://api.example.com\n',
    ],
    "curl-auth-user": [
        "curl -u admin:{16} https://api.example.com/v1\n",
        'curl -s --user "deploy:{12}" https://api.example.com/v1\n',
        "curl -sS -u 'bob:{20}' -X DELETE https://api.example.com/v1/items/7\n",
        'curl -u ":{40}" https://api.example.com/v1\n',
        'curl -u "{40}:" https://api.example.com/v1\n',
    ],
    "facebook-access-token": [
        "X_VALUE=1424924583253989|{27_-}\n",
        "curl 'https://graph.example.com/me?access_token=424924583253989%7C{27_-}&fields=id'\n",
    ],
    "freemius-secret-key": ["$fs = fs_dynamic_init([ 'id' => '1', 'secret_key' => 'sk_{29}' ]);\n"],
    "gitlab-session-cookie": ["Cookie: _gitlab_session={32}; theme=dark\n", "_gitlab_session={32}\n"],
    # What the rule draws is no JSON, and is never issued.
    "jwt": [
        "X_VALUE=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIi{40}.{43_-}\n",
        "On the staging box we use eyJhbGciOiJSUzI1NiJ9.eyJpc3Mi{60}.{86_-} for now.\n",
        "X_VALUE=eyAiYWxnIjogIkhTMjU2IiB9.eyAic3ViIjog{40}.{43_-}\n",
    ],
    "jwt-base64": ["X_VALUE=ZXlKaGJHY2lPaUpJVXpJMU5pSXNJb{80}\n", "X_VALUE=ZXlKMGVYQWlPaUpLVjFRaUxDSmhiR2Np{80}==\n"],
    "kubernetes-secret-yaml": [
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: app\ntype: Opaque\ndata:\n  dsn: {44}\n",
        "apiVersion: v1\ndata:\n  license.txt: {60}\nkind: Secret\nmetadata:\n  name: app\n",
        "kind: Secret\nmetadata:\n  name: app\ndata:\n  password: {24}==\n",
    ],
    "microsoft-teams-webhook": [
        "hook: https://acme.webhook.office.com/webhookb2/{8}-{4}-4{3}-a{3}-{12}@{8}-{4}-4{3}-a{3}-{12}/IncomingWebhook/{32}/"
        "{8}-{4}-4{3}-a{3}-{12}\n",
    ],
    "nuget-config-password": ['<add key="ClearTextPassword" value="{20}" />\n', '<add key="Password" value="{40}" />\n'],
    "private-key": [
        "-----BEGIN RSA PRIVATE KEY-----\n{64/+}\n-----END RSA PRIVATE KEY-----\n",
        "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{64/+}\n-----END PGP PRIVATE KEY BLOCK-----\n",
        'KEY="-----BEGIN OPENSSH PRIVATE KEY-----\\n{64/+}\\n-----END OPENSSH PRIVATE KEY-----"\n',
    ],
    "sendgrid-api-token": ["X_VALUE=SG.{22_-}.{43_-}\n", "On the staging box we use SG.{22_-}.{43_-} for now.\n"],
    "sidekiq-secret": ["BUNDLE_GEMS__CONTRIBSYS__COM={8}:{8}\n", "bundle config gems.contribsys.com {8}:{8}\n"],
    "slack-config-access-token": ["X_VALUE=xoxe.xoxp-1-{164}\n", "On the staging box we use xoxe.xoxb-1-{164} for now.\n"],
    "slack-webhook-url": [
        "curl -d @m.json https://hooks.slack.com/services/T{8}/B{10}/{24}\n",
        "X_VALUE=https://hooks.slack.com/workflows/T{8}/A{10}/{18}/{24}\n",
    ],
    "sidekiq-sensitive-url": ["source 'https://cafe0123:{8}@gems.contribsys.com/'\n"],
    "aws-amazon-bedrock-api-key-short-lived": [
        "AWS_BEARER_TOKEN_BEDROCK=bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{80/+}\n",
        "the key is bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t{80/+} until noon\n",
    ],
}
# Rules that match across many lines.
SEVERAL_LINES = ["curl-auth-header", "curl-auth-user", "kubernetes-secret-yaml", "private-key"]
# Rules for what is public: a client's name, a key that is shipped to browsers.
PUBLIC = re.compile(r"client-id|access-id|api-id|public-key|publishable|mapbox")
# Files of this repository that contain example secrets on purpose.
EXAMPLES = re.compile(r"text/redact/|redact|secret|fixtures|/tests?[/.]|tests?\.rs$|scan_|transcripts|0008-")
MAX_FILE = 400_000


def translated(regex):
    """Go's syntax as Python's: `(?i)` in the middle, `\\z`, POSIX classes, and `$` for the end of the text."""
    regex = regex.replace("[:alnum:]", "a-zA-Z0-9").replace(r"\z", r"\Z")
    # The flags set so far in each open group: they hold to its end, in its later alternatives too.
    out, flags, at, in_class = [], [[]], 0, False
    while at < len(regex):
        char, flag = regex[at], re.match(r"\(\?([is]+)\)", regex[at:])
        at += 1
        if char == "\\":
            char += regex[at]
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif flag:
            flags[-1].append(f"(?{flag[1]}:")
            at += flag.end() - 1
            char = flags[-1][-1]
        elif char == "(":
            flags.append([])
        elif char == ")":
            char = ")" * (1 + len(flags.pop()))
        elif char == "|":
            char = ")" * len(flags[-1]) + "|" + "".join(flags[-1])
        elif char == "$":
            char = r"\Z"
        out.append(char)
    return "".join(out) + ")" * len(flags.pop())


class Sampler:
    """Draws texts that a regular expression matches."""

    def __init__(self, regex, rng):
        self.tree = sre_parse.parse(regex, re.ASCII)
        self.rng = rng

    def draw(self):
        self.groups = {}
        self.mixed = self.rng.random() < 0.5
        return self.sequence(self.tree, False)

    def sequence(self, items, folded):
        return "".join(self.one(op, arg, folded) for op, arg in items)

    def one(self, op, arg, folded):
        rng = self.rng
        if op is sre.LITERAL:
            return chr(arg)
        if op in (sre.ANY, sre.NOT_LITERAL):
            return rng.choice(PLAIN)
        if op is sre.IN:
            char = rng.choice(self.class_of(arg))
            return rng.choice([char.lower(), char.upper()]) if folded and self.mixed else char
        if op is sre.BRANCH:
            return self.sequence(rng.choice(arg[1]), folded)
        if op is sre.SUBPATTERN:
            group, added, dropped, items = arg
            folded = (folded or bool(added & re.IGNORECASE)) and not dropped & re.IGNORECASE
            self.groups[group] = self.sequence(items, folded)
            return self.groups[group]
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, items = arg
            most = least if op is sre.MIN_REPEAT else min(most, least + MOST_REPEATED)
            return "".join(self.sequence(items, folded) for _ in range(rng.randint(least, most)))
        if op is sre.GROUPREF:
            return self.groups[arg]
        if op is sre.AT:
            return ""
        raise ValueError(f"cannot draw {op}")

    def class_of(self, items):
        chars, negated = set(), False
        for op, arg in items:
            if op is sre.NEGATE:
                negated = True
            elif op is sre.LITERAL:
                chars.add(chr(arg))
            elif op is sre.RANGE:
                chars.update(map(chr, range(arg[0], arg[1] + 1)))
            elif op is sre.CATEGORY:
                chars.update({
                    sre.CATEGORY_DIGIT: string.digits,
                    sre.CATEGORY_WORD: string.ascii_letters + string.digits + "_",
                    sre.CATEGORY_SPACE: " ",
                }.get(arg, PLAIN))
        return sorted(set(PLAIN) - chars if negated else chars) or [" "]


def entropy(text):
    return -sum(n / len(text) * math.log2(n / len(text)) for n in collections.Counter(text).values()) if text else 0


class Rule:
    """One rule of gitleaks: what it finds in a text."""

    def __init__(self, rule, common):
        self.id = rule["id"]
        self.source = translated(rule["regex"])
        self.regex = re.compile(self.source, re.ASCII)
        self.keywords = [word.lower() for word in rule.get("keywords", [])]
        self.entropy = rule.get("entropy", 0)
        self.group = rule.get("secretGroup", 0)
        self.path = re.compile(translated(rule["path"])) if "path" in rule else None
        self.lists = [AllowList(allowed) for allowed in rule.get("allowlists", [])] + [common]
        named = re.search(r"\{0,50\}\?\(\?:(.*?)\)\(\?:\[ \\t", self.source) or "{0,50}?" in self.source
        self.named = bool(named) and self.id not in FRAMES

    def find(self, text, lower, path):
        """The secrets in a text."""
        if self.keywords and not any(word in lower for word in self.keywords):
            return
        if self.path and path and not self.path.search(path):
            return
        for start, end in self.windows(text, lower):
            for match in self.regex.finditer(text, start, end):
                secret = self.secret(match)
                if entropy(secret) > self.entropy and not self.allows(text, match, secret, path):
                    yield secret

    def windows(self, text, lower):
        """Where the rule can match: the lines around its keywords. Python would need minutes for all of a large text."""
        if len(text) < 2000 or not self.keywords or self.id in SEVERAL_LINES:
            return [(0, len(text))]
        merged = []
        for at in sorted(hit.start() for word in self.keywords for hit in re.finditer(re.escape(word), lower)):
            start = max(lower.rfind("\n", 0, at) + 1, at - 200)
            end = lower.find("\n", at + 1)
            end = len(text) if end < 0 else lower.find("\n", end + 1) + 1 or len(text)
            if merged and start <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], end)
            else:
                merged.append([start, end])
        return merged

    def secret(self, match):
        found = match[self.group] if self.group else next((group for group in match.groups() if group), match[0])
        return found.strip("\n")

    def allows(self, text, match, secret, path):
        return any(allowed.allows(text, match, secret, path) for allowed in self.lists)


class AllowList:
    def __init__(self, allowed):
        self.target = allowed.get("regexTarget", "secret")
        self.regexes = [re.compile(translated(regex), re.ASCII) for regex in allowed.get("regexes", [])]
        self.paths = [re.compile(translated(path)) for path in allowed.get("paths", [])]
        self.words = [word.lower() for word in allowed.get("stopwords", [])]
        self.both = allowed.get("condition", "OR") in ("AND", "&&")

    def allows(self, text, match, secret, path):
        if self.target == "line":
            start, end = text.rfind("\n", 0, match.start()) + 1, text.find("\n", match.end())
            target = text[start:end if end >= 0 else len(text)]
        else:
            target = match[0] if self.target == "match" else secret
        named = any(regex.search(target) for regex in self.regexes)
        placed = any(regex.search(path) for regex in self.paths) if path else False
        common = any(word in secret.lower() for word in self.words)
        return (named and placed) if self.both else named or placed or common


def rules_of(file):
    config = tomllib.loads(pathlib.Path(file).read_text())
    common = AllowList(config.get("allowlist", {}))
    rules, untranslated = [], []
    for rule in config["rules"]:
        try:
            if "regex" in rule:
                rules.append(Rule(rule, common))
        except (re.error, ValueError) as error:
            untranslated.append((rule["id"], str(error)))
    return rules, untranslated


def contexts(rule, secret, rng):
    """Realistic texts with a secret, each with the name of its form."""
    if rule.named:
        # The rule's own name is what people call the thing: `asana-client-secret` is ASANA_CLIENT_SECRET.
        name = rule.id.replace("-", "_")
        vendor = rng.choice(rule.keywords).strip("_-. ").replace(" ", "_") or name
        if not any(word in name for word in rule.keywords):
            name = f"{vendor}_{name.rsplit('_', 1)[-1]}"
        if rule.id == "generic-api-key":
            name = rng.choice(["acme_api_key", "service_secret", "db_password", "deploy_token", "app_credential"])
            vendor = name.split("_")[0] + "_auth"
    else:
        name, vendor = "x_value", "value"
    words = name.replace("_", " ")
    camel = re.sub(r"_(\w)", lambda letter: letter[1].upper(), name)
    return [
        ("env", f"LOG_LEVEL=debug\n{name.upper()}={secret}\nPORT=8080\n"),
        ("export", f"export {name.upper()}=\"{secret}\"\nmake deploy\n"),
        ("json", f'{{\n  "region": "eu-west-1",\n  "{camel}": "{secret}",\n  "retries": 3\n}}\n'),
        ("yaml", f"service:\n  {name}: {secret}\n  replicas: 2\n"),
        ("vendor's name alone", f'const {vendor} = "{secret}";\n') if rule.named
        else ("code", f'const client = connect("{secret}");\n'),
        ("url", f"curl 'https://api.example.com/v1/items?{name}={secret}&page=2'\n"),
        ("prose", f"I set the {words} to {secret} on the staging box.\n" if rule.named
         else f"On the staging box we use {secret} for now.\n"),
    ]


def pieces(secret):
    size = min(PIECE, len(secret))
    return {secret[at:at + size] for at in range(len(secret) - size + 1)}


def framed(rule, rng):
    """Texts with a secret in one of the rule's frames: (form, text, secret, its pieces)."""
    for frame in FRAMES[rule.id] * PER_RULE:
        own = set()
        secrets = []

        def drawn(place):
            alphabet = "0123456789abcdef" if rule.id.startswith(("sidekiq", "gitlab", "microsoft")) else PLAIN + place[2]
            secrets.append("".join(rng.choices(alphabet, k=int(place[1]))))
            own.update(pieces(secrets[-1]))
            return secrets[-1]

        yield "frames", re.sub(r"\{(\d+)(\D*?)\}", drawn, frame), secrets[0], own


def planted(rule, rng):
    """Texts with a secret of this rule: (form, text, secret, the pieces that are the secret's alone)."""
    if rule.id in FRAMES:
        yield from framed(rule, rng)
        return
    sampler = Sampler(rule.source, rng)
    secrets = []
    for _ in range(PER_RULE * 40):
        drawn = sampler.draw()
        match = rule.regex.search(drawn)
        secret = rule.secret(match).strip("\"'") if match else ""
        # Nobody issues a secret that begins with a sign, and `KEY==…` is no line of a settings file.
        if match and secret[:1].isalnum() and entropy(secret) > rule.entropy and not rule.allows(drawn, match, secret, ""):
            secrets.append(secret)
        if len(secrets) == PER_RULE:
            break
    # A piece that two secrets have in common is the rule's, not the secret's.
    seen = collections.Counter(piece for secret in secrets for piece in pieces(secret))
    for secret in secrets:
        own = {piece for piece in pieces(secret) if seen[piece] == 1}
        if own:
            for form, text in contexts(rule, secret, rng):
                yield form, text, secret, own


def redacted(program, texts):
    """The texts as the product leaves them."""
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    out = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines()]


def measure_secrets(rules, program, show, answers):
    samples = []
    for rule in rules:
        # One generator for each rule: a new rule leaves the texts of the others as they were.
        rng = random.Random(f"rekindle {rule.id}")
        samples += [(rule, *sample) for sample in planted(rule, rng)]
    left = redacted(program, [text for _, _, text, _, _ in samples])
    table = collections.defaultdict(lambda: [0, 0, 0])
    forms = collections.defaultdict(lambda: [0, 0, 0])
    for (rule, form, text, secret, own), after in zip(samples, left):
        ours = not any(piece in after["text"] for piece in own)
        # Any rule of theirs may find it.
        theirs = any(
            secret in found or found in secret
            for other in rules for found in other.find(text, text.lower(), "")
        )
        kind = "public" if PUBLIC.search(rule.id) else "named" if rule.named else "self-evident"
        for counts in (table[rule.id], forms[kind, form]):
            counts[0] += 1
            counts[1] += ours
            counts[2] += theirs
        if not ours and show in (rule.id, "all"):
            print(f"[{rule.id}, {form}] {after['text'].strip()!r}")
        if answers:
            line = {"rule": rule.id, "form": form, "text": text, "left": after["text"], "ours": ours, "theirs": theirs}
            answers.write(json.dumps(line) + "\n")
    return table, forms


def harmless(folders, rng):
    """(set, path, text) of what has no secrets."""
    root = pathlib.Path(__file__).parent.parent
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
    for name in tracked.splitlines():
        if not EXAMPLES.search(name):
            yield from text_of("this repository", root / name, name)
    log = subprocess.run(["git", "log", "--format=%H %h %s"], cwd=root, capture_output=True, text=True, check=True)
    yield "commit hashes", "log.txt", log.stdout
    ids = [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(5000)]
    yield "UUIDs", "requests.log", "".join(
        rng.choice([f"request {id} took 12 ms\n", f'{{"id": "{id}", "parent": null}}\n', f"session_id={id}\n",
                    f"/var/lib/app/{id}/data.json\n"]) for id in ids
    )
    hashes = [rng.randbytes(32) for _ in range(5000)]
    yield "lock files", "notes-of-a-build.txt", "".join(
        rng.choice([
            f'checksum = "{sum.hex()}"\n',
            f'    "integrity": "sha512-{base64.b64encode(sum + sum[::-1]).decode()}",\n',
            f"golang.org/x/text v0.3.0 h1:{base64.b64encode(sum).decode()}\n",
            f"    --hash=sha256:{sum.hex()} \\\n",
            f"image: registry.example.com/app@sha256:{sum.hex()}\n",
            f"{sum[:20].hex()}  refs/heads/main\n",
        ]) for sum in hashes
    )
    images = [base64.b64encode(b"\x89PNG\r\n\x1a\n" + rng.randbytes(900)).decode() for _ in range(300)]
    yield "images", "page.html", "".join(f'<img src="data:image/png;base64,{image}">\n' for image in images)
    for folder in folders:
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.is_file():
                yield from text_of(folder, file, str(file.relative_to(folder)))


def text_of(set, file, name):
    if file.stat().st_size > MAX_FILE:
        return
    try:
        yield set, name, file.read_text()
    except UnicodeDecodeError:
        pass


def measure_harmless(rules, program, folders, show):
    texts = list(harmless(folders, random.Random("rekindle")))
    left = redacted(program, [text for _, _, text in texts])
    table = collections.defaultdict(lambda: [0, 0, 0])
    for (set, path, text), after in zip(texts, left):
        ours = sum(after["redacted"].values())
        # gitleaks reports a secret once, whichever rules find it.
        lower = text.lower()
        theirs = {secret for rule in rules for secret in rule.find(text, lower, path)}
        counts = table[set]
        counts[0] += len(text.encode())
        counts[1] += ours
        counts[2] += len(theirs)
        if ours and show == "harmless":
            lines = [line for line in after["text"].splitlines() if "[redacted:" in line]
            print(f"[{set}, {path}] {after['redacted']}", *[f"    {line.strip()[:200]}" for line in lines[:8]], sep="\n")
    return table


def percent(part, all):
    return f"{100 * part / all:.1f}" if all else "-"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("gitleaks")
    parser.add_argument("redact")
    parser.add_argument("--harmless", action="append", default=[])
    parser.add_argument("--show", help="print what is left of a rule's secrets, of `all`, or what is flagged in `harmless`")
    parser.add_argument("--answers", type=argparse.FileType("w"))
    args = parser.parse_args()
    rules, untranslated = rules_of(args.gitleaks)
    program = str(pathlib.Path(args.redact).resolve())
    table, forms = measure_secrets(rules, program, args.show, args.answers)
    print(f"{'rule':44} texts  ours %  gitleaks %")
    for rule in rules:
        all, ours, theirs = table[rule.id]
        if not all:
            print(f"{rule.id:44} cannot be drawn")
        elif ours < all:
            print(f"{rule.id:44} {all:5} {percent(ours, all):>7} {percent(theirs, all):>11}")
    whole = sum(1 for rule in rules if table[rule.id][0] and table[rule.id][0] == table[rule.id][1])
    print(f"{whole} more rules: everything caught")
    print(f"not translated: {untranslated or 'none'}")
    print(f"\n{'secrets':44} texts  ours %  gitleaks %")
    for (kind, form), (all, ours, theirs) in sorted(forms.items()):
        print(f"{kind + ', ' + form:44} {all:5} {percent(ours, all):>7} {percent(theirs, all):>11}")
    all, ours, theirs = (sum(counts[at] for counts in forms.values()) for at in range(3))
    print(f"{'all':44} {all:5} {percent(ours, all):>7} {percent(theirs, all):>11}")
    print(f"\n{'harmless':44}    kB    ours    gitleaks")
    for set, (size, ours, theirs) in measure_harmless(rules, program, args.harmless, args.show).items():
        print(f"{set[-44:]:44} {size // 1000:5} {ours:7} {theirs:11}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
