//! Judges values: references and words on one side, secrets on the other.

use super::placeholders::is_placeholder;
use super::vocabulary::{is_stand_in, is_technical};
use super::words::{is_numbered_words, is_word_list, is_wordy, is_wordy_name};

/// The number of different bytes in `value`.
pub(super) fn distinct_bytes(value: &str) -> usize {
    let mut seen = [false; 256];
    value.bytes().for_each(|b| seen[usize::from(b)] = true);
    seen.iter().filter(|seen| **seen).count()
}

/// True if `value` refers to a secret elsewhere: code, a path, a URL, the name of a variable, a digest.
pub(super) fn is_reference(value: &str, quoted: bool) -> bool {
    #[rustfmt::skip]
    const SCHEMES: [&str; 16] = [
        "env:", "file:", "vault:", "op:", "arn:", "ssm:", "secretref:", "keyring:", "keychain:", "sops:",
        "sha1:", "sha256:", "sha384:", "sha512:", "sha256-", "sha512-",
    ];
    #[rustfmt::skip]
    const ROOTS: [&str; 27] = [
        "app", "args", "config", "context", "ctx", "data", "env", "import", "local", "module", "options",
        "opts", "os", "params", "process", "props", "req", "request", "secrets", "self", "settings", "state",
        "steps", "sys", "this", "var", "vars",
    ];
    let identifier = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$'))
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '?' | '!'))
    };
    let bare = value.trim_end_matches([';', ',', '!', '?']);
    if bare.contains("://") || bare.contains("::") || SCHEMES.iter().any(|scheme| bare.starts_with(scheme)) {
        return true;
    }
    if bare.starts_with("ENC[") || bare.starts_with("{cipher}") {
        return true;
    }
    // Code, a file to read (`@secret.txt`), a tag or an alias; but `@dmin123` and `!Passw0rd` are literals.
    let marked = bare.starts_with('@') && bare.contains(['.', '/'])
        || bare.starts_with(['&', '*', '!']) && !bare.bytes().any(|b| b.is_ascii_digit());
    if !quoted && (marked || bare.trim_start_matches(['&', '*']).starts_with(['[', '{', '('])) {
        return true;
    }
    let path = ["/", "./", "../", "~/"].iter().any(|start| bare.starts_with(start))
        || (bare.len() > 3 && bare.as_bytes()[1..].starts_with(b":\\"))
        || bare.matches('\\').count() >= 2;
    if path && !bare.split(['/', '.', '\\']).any(looks_random) {
        return true;
    }
    // A call or an index: an identifier, then a bracket.
    let head =
        bare.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'$')).count();
    let opened = head > 0 && matches!(bare.as_bytes().get(head), Some(b'(' | b'[' | b'{'));
    if opened && (!quoted || bare.ends_with([')', ']', '}']) || !bare.contains([')', ']', '}'])) {
        return true;
    }
    if bare.contains('.') && bare.split('.').all(identifier) {
        let root = ROOTS.contains(&bare.split('.').next().unwrap_or_default());
        return root || (!quoted && !bare.split('.').any(looks_random));
    }
    is_variable(bare)
}

/// True for the name of a variable: `GITHUB_TOKEN`, capitals joined by underscores, each part a word.
fn is_variable(value: &str) -> bool {
    value.contains('_')
        && value.trim_start_matches('_').split('_').all(|part| {
            let letters = part.bytes().filter(u8::is_ascii_uppercase).count();
            let digits = part.bytes().filter(u8::is_ascii_digit).count();
            letters + digits == part.len() && digits <= 3 && !part.is_empty()
        })
}

/// Counts of the character classes in a value.
#[derive(Default)]
struct CharacterClasses {
    letters: usize,
    upper: usize,
    lower: usize,
    digits: usize,
    /// Marks that words, names and paths do not have between their letters.
    marks: usize,
    /// The number of class changes between neighbours, except capitals at the start of a word.
    changes: usize,
    length: usize,
}

fn makeup(value: &str) -> CharacterClasses {
    let mut makeup = CharacterClasses::default();
    let mut previous = None;
    for c in value.chars() {
        makeup.length += 1;
        let class = if c.is_ascii_digit() {
            makeup.digits += 1;
            Some(0)
        } else if c.is_uppercase() {
            makeup.upper += 1;
            Some(1)
        } else if c.is_alphabetic() {
            makeup.lower += usize::from(c.is_lowercase());
            Some(2)
        } else {
            None
        };
        makeup.letters += usize::from(c.is_alphabetic());
        if previous.is_some() && class.is_some() && previous != class {
            makeup.changes += 1;
        }
        previous = class;
    }
    let inner = value.trim_matches(|c: char| !c.is_alphanumeric());
    makeup.marks = inner
        .chars()
        .filter(|c| matches!(c, '!' | '@' | '#' | '$' | '%' | '^' | '&' | '*' | '+' | '=' | '~' | '?'))
        .count();
    makeup
}

/// True if `value` looks random: long, varied, and without words. Hashes and ids are excluded; see
/// [`is_digest`].
pub(super) fn looks_random(value: &str) -> bool {
    let made = makeup(value);
    if made.length < 16 || !value.is_ascii() || distinct_bytes(value) < 8 || is_wordy(value) {
        return false;
    }
    let mixed = made.digits >= 1 && made.letters >= 4 && made.changes >= 5;
    let scrambled = made.upper >= 3 && made.lower >= 3 && made.changes * 4 >= made.length;
    mixed || scrambled
}

/// True if `value` may be random but public: a hash in hex, a UUID.
pub(super) fn is_digest(value: &str) -> bool {
    value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

/// True for versions, dates, times and addresses: numbers with separators and perhaps a short word. Also for
/// numbers in code: `0xC000_006A`, `16u32`, `#d8dee9`.
fn is_numeric(value: &str) -> bool {
    const TYPES: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "ul", "l",
    ];
    let lower = value.trim_start_matches('-').to_ascii_lowercase();
    let bare = TYPES.iter().find_map(|suffix| lower.strip_suffix(suffix)).unwrap_or(&lower);
    let (digits, hex) = bare.strip_prefix("0x").map_or((bare, false), |digits| (digits, true));
    let is_digit = |b: u8| b == b'_' || if hex { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    if !digits.is_empty() && digits.bytes().all(is_digit) && digits.len() <= 24 {
        return true;
    }
    if value.starts_with('#') && value.len() <= 9 && value[1..].bytes().all(|b| b.is_ascii_hexdigit()) {
        return true;
    }
    let digits_first = value.trim_start_matches(['v', 'V']).starts_with(|c: char| c.is_ascii_digit());
    let separated = value.contains(['.', ':', '-', '/']) || value.bytes().all(|b| b.is_ascii_digit());
    digits_first
        && separated
        && value.split(['.', ':', '-', '/', '+']).all(|part| {
            let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
            part.bytes().all(|b| b.is_ascii_alphanumeric())
                && (letters == 0 || letters <= 5 && part.len() <= 7)
                && part
                    .bytes()
                    .zip(part.bytes().skip(1))
                    .filter(|(a, b)| a.is_ascii_digit() != b.is_ascii_digit())
                    .count()
                    <= 2
        })
        && value.len() <= 40
}

fn is_email(value: &str) -> bool {
    let value = value.trim_end_matches("'s");
    value.split_once('@').is_some_and(|(user, host)| {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
        !user.is_empty()
            && user.chars().all(plain)
            && host.contains('.')
            && !host.ends_with('.')
            && host.chars().all(plain)
    })
}

/// True for a literal in a place where only a password can be: a word counts, a placeholder or a reference
/// does not.
pub(super) fn is_literal(value: &str, min: usize, quoted: bool) -> bool {
    value.chars().count() >= min
        && !is_placeholder(value)
        && !is_reference(value, quoted)
        && !is_technical(value)
}

/// True for a password in running text: letters mixed with digits or marks.
pub(super) fn is_password(value: &str, min: usize) -> bool {
    if !is_literal(value, min, false) || is_numeric(value) || is_email(value) {
        return false;
    }
    // HTML entities are not passwords.
    if ["&quot", "&amp", "&lt", "&gt", "&#"].iter().any(|entity| value.contains(entity)) {
        return false;
    }
    // `password1` and `token2` are variables.
    if value.ends_with(|c: char| c.is_ascii_digit()) && is_stand_in(&value[..value.len() - 1].to_lowercase())
    {
        return false;
    }
    let made = makeup(value);
    let joined = value.contains(['-', '_', '/', '.', '\'', '’', ':', '(', ')', ',']);
    // `prod-2024` is a name; `Summer-2024` is a typical password for a form that demands a capital and a
    // digit.
    let demanded = made.length >= 8 && made.upper > 0 && made.lower > 0 && made.digits > 0;
    let name = joined && is_wordy(value) && !is_numbered_words(value);
    let mixed = made.letters > 0 && made.digits > 0 && (demanded || !name);
    let marked = made.letters > 0 && made.marks > 0 && !value.contains(['(', ')', '[', ']', '/', '<', '>']);
    let scrambled = made.length >= 8 && made.upper >= 2 && made.lower >= 2 && made.changes * 2 > made.length;
    mixed || marked || scrambled || is_word_list(value, '-')
}

/// True for an issued token or key: letters and digits, and not a name with a number.
pub(super) fn is_token(value: &str, min: usize) -> bool {
    if !is_literal(value, min, false) || is_numeric(value) || is_email(value) || is_wordy_name(value) {
        return false;
    }
    let made = makeup(value);
    let mixed = made.digits >= 2 && made.letters >= 2;
    let marked = made.digits >= 1 && made.letters >= 2 && made.marks >= 1;
    let long = made.letters == made.length && made.length >= 20 && (made.upper == 0 || made.lower == 0);
    mixed || marked || long || looks_random(value)
}

/// True if `value` can be the key of a one-time password: Base32 of a usual length, in one case.
pub(super) fn is_base32(value: &str) -> bool {
    let one_case = |case: fn(&u8) -> bool| value.bytes().all(|b| case(&b) || matches!(b, b'2'..=b'7'));
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    matches!(value.len(), 16 | 20 | 24 | 26 | 32 | 40 | 48 | 52 | 56 | 64)
        && (one_case(u8::is_ascii_uppercase) || one_case(u8::is_ascii_lowercase))
        && (1..=value.len() / 2).contains(&digits)
        && distinct_bytes(value) >= 6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b_03_stand_ins_are_no_secrets() {
        for value in [
            "",
            "${API_KEY}",
            "$TOKEN",
            "$1",
            "<your-api-key>",
            "{{ token }}",
            "%s",
            "%(password)s",
            "xxxxxxxx",
            "********",
            "sk-...",
            "abc…",
            "your-api-key",
            "YOUR_API_KEY_HERE",
            "changeme",
            "change-me",
            "None",
            "null",
            "string",
            "my secret",
            "[PAD]",
            "Passwort",
            "パスワード",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "hunter2",
            "swordfish",
            "$up3r!secret",
            "$ecret123",
            "wJalrXUtnFEMI/K7MDENG",
            "1111",
            "password1",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn b_03_references_are_no_secrets() {
        for value in [
            "process.env.API_KEY",
            "os.environ[",
            "parse_token(input);",
            "secrets.GITHUB_TOKEN",
            "/run/secrets/db",
            "https://example.com/x",
            "env:DB_PASS",
            "GITHUB_TOKEN",
            "self.token",
            "env::var(",
            "params[:password]",
            "sha256:abcdef",
            "op://vault/item",
            "~/.ssh/id_ed25519",
            "@secret.txt",
            "arn:aws:secretsmanager:x",
        ] {
            assert!(is_reference(value, false), "{value}");
        }
        for value in ["hunter2", "ab(c1)d!", "/K7MDENGbPxRfiCY3xWq/2vLm", "p@ss.w0rd!", "abc_123"] {
            assert!(!is_reference(value, true), "{value}");
        }
    }

    #[test]
    fn b_03_passwords_are_told_from_prose() {
        for value in [
            "hunter2",
            "p@ssword",
            "Tr0ub4dor&3",
            "s3cr3t!",
            "пароль123x",
            "xK9mQw",
            "correct-horse-battery-staple",
            "hunter2-Xk9",
            "Summer-2024",
        ] {
            assert!(is_password(value, 6), "{value}");
        }
        for value in [
            "stored",
            "required",
            "user-supplied",
            "one-time",
            "2026-02-14",
            "1.2.3",
            "10:30:00",
            "bob@example.com",
            "SHA-256",
            "8-character",
            "config.password",
            "hashedPassword",
            "don't",
            "and/or",
            "end-to-end-encrypted",
            "step-2",
            "v1.2.3-beta.4",
            "127.0.0.1:6379",
            "Base64-encoded",
            "prod-2024",
        ] {
            assert!(!is_password(value, 6), "{value}");
        }
    }

    #[test]
    fn b_03_tokens_are_told_from_names() {
        for value in [
            "0123456789abcdef0123456789abcdef",
            "550e8400-e29b-41d4-a716-446655440000",
            "abcd1234efgh",
            "a1b2c3d4",
            "abcdefghijklmnopqrstuvwxyz",
            "dGhpcyBpcyBhIHNlY3JldA==",
        ] {
            assert!(is_token(value, 8), "{value}");
        }
        for value in [
            "my-secret-2",
            "authToken",
            "test_foo2",
            "identifier",
            "40000",
            "bearer",
            "getUserToken2",
            "v1.2.3",
        ] {
            assert!(!is_token(value, 6), "{value}");
        }
    }

    #[test]
    fn b_03_randomness_needs_more_than_length() {
        assert!(looks_random("wJalrXUtnFEMIK7MDENGbPxRfiCY"));
        assert!(looks_random("aGVsbG8gd29ybGQgdGhpcw"));
        assert!(!looks_random("getUserAuthenticationTokenProvider"));
        assert!(!looks_random("aaaaaaaaaaaaaaaaaaaaaaaa1111"));
        assert!(is_digest("550e8400-e29b-41d4-a716-446655440000") && !is_digest("xyz"));
    }
}
