//! Words that stand where a secret would and are none: stand-ins, types, states, labels, algorithms.

/// In alphabetical order, for the search.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "a", "absent", "access", "account", "actual", "add", "admin", "algorithm", "all", "allowed", "an", "any",
    "api", "apikey", "app", "argument", "arguments", "array", "at", "auth", "auto", "automatic", "base64",
    "basic", "bearer", "bool", "boolean", "buffer", "by", "byte", "bytes", "cadena", "change", "changed",
    "changeit", "changeme", "char", "chave", "clave", "clear", "cleartext", "cli", "client", "command",
    "config", "configured", "contrasena", "contraseña", "correct", "credential", "credentials", "data",
    "database", "date", "db", "de", "default", "deleted", "demo", "disabled", "dummy", "empty", "enabled",
    "encrypted", "enter", "env", "environment", "example", "expired", "fake", "false", "field", "fields",
    "file", "flag", "flags", "float", "foo", "foobar", "from", "generated", "given", "goes", "hash", "hashed",
    "here", "hidden", "id", "in", "incorrect", "input", "insert", "int", "integer", "invalid", "is", "it",
    "jwt", "kennwort", "key", "keychain", "keyring", "label", "login", "manual", "masked", "mdp", "me",
    "missing", "mot", "must", "my", "name", "needed", "never", "new", "nil", "no", "none", "not", "null",
    "number", "oauth", "object", "of", "off", "ok", "old", "omitted", "on", "open", "option", "optional",
    "options", "or", "param", "parameter", "parameters", "pass", "passcode", "passe", "passphrase", "passwd",
    "password", "passwort", "paste", "plain", "plaintext", "please", "private", "prompt", "prompted",
    "provided", "public", "put", "pw", "pwd", "random", "read", "real", "redacted", "removed", "replace",
    "replaceme", "required", "reset", "rotated", "sample", "schema", "scheme", "secret", "secretstr",
    "secretstring", "secure", "securestring", "see", "senha", "service", "set", "shared", "sk", "some",
    "something", "somewhere", "stored", "str", "string", "strings", "strong", "super", "tbd", "test",
    "testing", "text", "the", "this", "to", "todo", "token", "true", "type", "typed", "undefined", "unknown",
    "unset", "unused", "use", "used", "user", "username", "valid", "value", "varchar", "variable",
    "variables", "vault", "void", "weak", "with", "wrong", "yes", "you", "your", "клавиша", "ключ", "пароль",
    "секрет", "токен", "キー", "トークン", "パスワード", "令牌", "口令", "密码", "密碼", "密钥",
];

/// Names that end in a number and are no password: what a word like this is part of is a technical term.
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

/// Whether `word`, in lower case, is one of those words.
pub(super) fn is_stand_in(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

/// Whether `value` is a term such as `sha256-hashed`, `AES-256-GCM`, `utf8`, `v2`, `64-bit` or `2fa`.
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
    digits > 0 && digits <= 5 && simple && tail_is_words && NUMBERED.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_searched() {
        assert!(WORDS.is_sorted());
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
        for password in
            ["hunter2", "s3cr3t", "abc123", "8xkz-33a", "p4ssw0rd", "v8x9k2q", "swordfish", "1234"]
        {
            assert!(!is_technical(password), "{password}");
        }
    }
}
