//! Words in the place of a secret that are not secret: placeholders, types, states, labels, algorithms.

/// In alphabetical order, for binary search.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "abgelaufen", "absent", "accepted", "access", "account", "actual", "add", "admin", "algorithm",
    "all", "allowed", "an", "any", "api", "apikey", "app", "argument", "arguments", "array", "at", "auth",
    "auto", "automatic", "base64", "basic", "bearer", "bool", "boolean", "buffer", "by", "byte", "bytes",
    "cached", "cadena", "change", "changed", "changeit", "changeme", "char", "chave", "clave", "clear",
    "cleartext", "cli", "client", "command", "config", "configured", "confirmed", "contrasena",
    "contraseña", "correct", "credential", "credentials", "data", "database", "date", "db", "de", "default",
    "deleted", "demo", "dimenticata", "disabled", "dummy", "empty", "enabled", "encoded", "encrypted",
    "enter", "env", "environment", "erforderlich", "errata", "esquecida", "example", "excluded", "expired",
    "fake", "falsch", "false", "field", "fields", "file", "flag", "flags", "float", "foo", "foobar",
    "forgotten", "from", "generated", "gerekli", "gesetzt", "geändert", "given", "goes", "hash", "hashed",
    "here", "hidden", "id", "in", "included", "incorrect", "incorrecta", "incorreta", "input", "insert",
    "int", "integer", "invalid", "is", "it", "jwt", "kennwort", "key", "keychain", "keyring", "label",
    "locked", "login", "mancante", "manquant", "manual", "masked", "matched", "maximum", "mdp", "me",
    "minimum", "mismatch", "missing", "mot", "must", "my", "name", "needed", "never", "new",
    "nieprawidłowe", "nil", "no", "none", "not", "nowe", "nowy", "null", "number", "oauth", "obbligatoria",
    "obbligatorio", "object", "obligatoire", "obligatoria", "obrigatoria", "obrigatória", "of", "off", "ok",
    "old", "olvidada", "omitted", "on", "onjuist", "open", "option", "optional", "options", "or", "oublie",
    "oublié", "param", "parameter", "parameters", "pass", "passcode", "passe", "passphrase", "passwd",
    "password", "passwort", "paste", "plain", "plaintext", "please", "private", "prompt", "prompted",
    "protected", "provided", "public", "put", "pw", "pwd", "random", "read", "real", "redacted", "rejected",
    "removed", "replace", "replaceme", "requerida", "required", "requis", "reset", "richiesta", "richiesto",
    "rotated", "sample", "saved", "schema", "scheme", "secret", "secretstr", "secretstring", "secure",
    "securestring", "see", "senha", "service", "set", "shared", "shown", "siehe", "sk", "some", "something",
    "somewhere", "stored", "str", "string", "strings", "strong", "super", "synced", "tbd", "test",
    "testing", "text", "the", "this", "to", "todo", "token", "true", "type", "typed", "undefined",
    "unknown", "unlocked", "unset", "unused", "unuttum", "use", "used", "user", "username", "valid",
    "value", "varchar", "variable", "variables", "vault", "vedi", "vereist", "vergessen", "vergeten",
    "verified", "verplicht", "visible", "void", "voir", "weak", "with", "wrong", "wymagane", "wymagany",
    "yanlış", "yeni", "yes", "you", "your", "zie", "zobacz", "zorunlu", "zorunludur", "забыл", "клавиша",
    "ключ", "неверен", "неверный", "нет", "новое", "новый", "обязателен", "обязательно", "обязательное",
    "пароль", "секрет", "смотри", "токен", "キー", "トークン", "パスワード", "令牌", "口令", "密码", "密碼", "密钥",
];

/// Words that people join with others by `-` or `_` to describe or name something. In alphabetical order.
#[rustfmt::skip]
const COMPOUNDED: &[&str] = &[
    "able", "access", "active", "agnostic", "ahead", "all", "alpine", "always", "any", "app", "applied",
    "auto", "aware", "back", "base", "based", "bit", "blank", "board", "bound", "bug", "build", "built",
    "byte", "call", "case", "charge", "chars", "check", "class", "clean", "client", "close", "code",
    "coded", "column", "common", "compat", "compatible", "complete", "compliant", "connected", "controlled",
    "cost", "cross", "daily", "date", "day", "dead", "decimal", "deep", "default", "defined", "dependent",
    "depth", "derived", "dev", "digit", "digits", "double", "down", "driven", "due", "dynamic", "early",
    "easy", "edge", "empty", "enabled", "encoded", "encrypted", "end", "ended", "env", "error", "even",
    "event", "every", "exact", "external", "facing", "factor", "fail", "false", "far", "fast", "feature",
    "file", "final", "first", "fixed", "flag", "flat", "follow", "form", "forward", "four", "free",
    "friendly", "front", "full", "future", "general", "generated", "global", "good", "gpio", "grade",
    "grained", "group", "half", "hand", "hard", "hashed", "heavy", "high", "hoc", "home", "host", "hour",
    "human", "independent", "info", "initial", "inner", "insensitive", "inside", "intensive", "internal",
    "issued", "item", "job", "just", "kept", "kind", "known", "large", "last", "late", "latency", "layer",
    "left", "length", "less", "letter", "level", "like", "limit", "limited", "line", "linked", "list",
    "live", "lived", "load", "local", "lock", "locked", "log", "logged", "long", "loop", "loss", "low",
    "lower", "machine", "made", "main", "major", "manual", "many", "map", "master", "max", "memory",
    "method", "mid", "min", "mini", "minor", "minute", "mode", "model", "module", "month", "more", "multi",
    "name", "named", "near", "needed", "neutral", "new", "next", "node", "non", "not", "null", "num",
    "number", "object", "odd", "off", "offline", "once", "one", "online", "only", "open", "optimized",
    "optional", "order", "oriented", "out", "outer", "over", "owned", "page", "pair", "part", "partial",
    "passed", "path", "pattern", "per", "persistent", "place", "plain", "point", "port", "post", "pre",
    "prefix", "present", "preserving", "private", "process", "prod", "production", "project", "proof",
    "protected", "provided", "public", "pull", "purpose", "push", "quality", "quick", "quote", "quoted",
    "random", "range", "rate", "raw", "read", "readable", "ready", "real", "record", "related", "release",
    "relevant", "remote", "request", "required", "reset", "resistant", "resolution", "response", "rest",
    "restricted", "retry", "reusable", "right", "role", "root", "rotated", "round", "row", "run", "safe",
    "salted", "same", "sample", "scale", "scoped", "score", "script", "search", "second", "secure", "seed",
    "self", "semi", "sensitive", "separated", "server", "service", "session", "set", "shared", "short",
    "side", "sided", "sign", "signed", "simple", "single", "size", "sized", "slow", "small", "soft",
    "sorted", "source", "space", "special", "specific", "split", "stable", "stage", "staging", "stale",
    "standard", "start", "state", "static", "step", "stop", "storage", "store", "stored", "strength",
    "string", "strong", "style", "sub", "suffix", "super", "supplied", "supported", "sync", "system",
    "table", "tag", "team", "tenant", "term", "test", "text", "third", "thread", "three", "throw", "tier",
    "tight", "time", "timed", "tool", "top", "total", "trace", "trailing", "trip", "true", "trusted",
    "twice", "two", "type", "typed", "ultra", "under", "unique", "unit", "unknown", "unsafe", "until",
    "update", "upper", "use", "used", "user", "valid", "validated", "value", "version", "via", "view",
    "visible", "way", "weak", "web", "week", "weight", "well", "wide", "wise", "with", "word", "work",
    "world", "writable", "write", "wrong", "year", "yet", "zero",
];

/// Technical terms that end in a number and are not passwords.
#[rustfmt::skip]
const NUMBERED: [&str; 44] = [
    "aes", "argon", "base", "bcrypt", "blake", "char", "chacha", "double", "ec", "ecdsa", "ed", "es", "float",
    "gpt", "h", "hs", "http", "i", "int", "ipv", "iso", "k", "latin", "md", "oauth", "p", "pbkdf", "pkcs",
    "poly", "ps", "python", "rfc", "rs", "rsa", "s", "saml", "scrypt", "sha", "tls", "u", "uint", "utf", "v",
    "x",
];

/// Units that follow a number directly.
#[rustfmt::skip]
const UNITS: [&str; 24] = [
    "b", "bit", "bits", "byte", "bytes", "char", "chars", "d", "day", "days", "fa", "gb", "h", "k", "kb", "m",
    "mb", "min", "ms", "nd", "rd", "s", "st", "th",
];

/// True if `word`, in lower case, is a placeholder word.
pub(super) fn is_stand_in(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// True if `word`, in lower case, is part of technical compounds.
pub(super) fn is_compounded(word: &str) -> bool {
    let ending =
        ["able", "ible", "less", "ized", "ised", "ated", "tion", "ly"].iter().any(|end| word.ends_with(end));
    ending || COMPOUNDED.binary_search(&word).is_ok()
}

/// True if `word`, in lower case, is a number word.
pub(super) fn is_numeral(word: &str) -> bool {
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"].contains(&word)
}

/// True for a technical term such as `sha256-hashed`, `AES-256-GCM`, `utf8`, `v2`, `64-bit` or `2fa`.
pub(super) fn is_technical(value: &str) -> bool {
    let lower = value.trim_start_matches('_').to_lowercase();
    let letters = lower.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum::<usize>();
    let (name, rest) = lower.split_at(letters);
    let rest = rest.strip_prefix(['-', '_']).unwrap_or(rest);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let tail = &rest[digits..];
    let simple =
        lower.len() <= 28 && tail.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if name.is_empty() {
        // `8-character`, `64bit`; but not `8xkz-33`.
        let unit = tail.strip_prefix('-').unwrap_or(tail);
        let hyphened = unit.len() < tail.len() && unit.chars().all(|c| c.is_alphabetic() || c == '-');
        return digits > 0 && (UNITS.contains(&unit) || (hyphened && !unit.is_empty()));
    }
    let tail_is_words =
        !tail.bytes().any(|b| b.is_ascii_digit()) || digits <= 3 && tail.starts_with(['-', '_', '.']);
    digits > 0 && digits <= 5 && simple && tail_is_words && !is_disguised(value) && NUMBERED.contains(&name)
}

/// True if a letter of a word was replaced by a similar digit: `p1neTree`, but not `x509Cert`, `k8s` or
/// `v1beta`.
fn is_disguised(value: &str) -> bool {
    let mut chars = value.chars();
    let letter = chars.next().is_some_and(|c| c.is_alphabetic() && c != 'v');
    let digit = matches!(chars.next(), Some('0' | '1' | '3' | '4' | '5' | '7'));
    letter && digit && chars.take_while(|c| c.is_lowercase()).count() >= 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched() {
        assert!(WORDS.is_sorted() && COMPOUNDED.is_sorted());
        assert!(is_stand_in("changeme") && !is_stand_in("swordfish"));
    }

    #[test]
    fn technical_terms_are_no_passwords() {
        for term in [
            "sha256",
            "SHA-256",
            "sha256-hashed",
            "AES-256-GCM",
            "utf8",
            "UTF-8",
            "base64-encoded",
            "argon2id",
            "v2",
            "64-bit",
            "2fa",
            "8-stellig",
            "12-character",
            "hs256",
            "ipv6",
            "u64",
            "oauth2",
            "pbkdf2",
        ] {
            assert!(is_technical(term), "{term}");
        }
        for password in [
            "hunter2",
            "s3cr3t",
            "p1neTree",
            "s3edLing",
            "abc123",
            "8xkz-33a",
            "p4ssw0rd",
            "v8x9k2q",
            "swordfish",
            "1234",
        ] {
            assert!(!is_technical(password), "{password}");
        }
    }
}
