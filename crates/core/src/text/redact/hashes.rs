//! Hashes of passwords, as databases and password files keep them. Weak passwords are guessed from them.

use super::SecretKind;
use super::prescan::ScanMarks;
use super::walk::SecretSpan;

/// A hash that is shorter is that of nothing.
const MIN_HASH: usize = 20;
/// Every field of a bcrypt hash behind its cost is this long.
const BCRYPT: usize = 53;
/// No hash with its salt and its parameters is longer.
const LONGEST: usize = 400;
/// Names before the first `$`, as Django, Werkzeug and others write them.
const NAMES: [&str; 7] = ["pbkdf2", "scrypt", "bcrypt", "argon2", "sha1", "sha256", "sha512"];
/// Names in braces, as LDAP has them.
const SCHEMES: [&str; 8] = ["{SSHA", "{SHA}", "{SHA256", "{SHA512", "{SMD5}", "{MD5}", "{CRYPT}", "{PBKDF2"];

pub(super) fn scan(text: &str, _: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let mut from = 0;
    let mut push = |(start, end): (usize, usize)| {
        if start >= from {
            from = end;
            found.push(SecretSpan { kind: SecretKind::PasswordHash, start, end });
        }
    };
    for (at, _) in text.match_indices('$') {
        // Nearly every `$` is passed over by what follows it.
        if text.as_bytes().get(at + 1).is_some_and(u8::is_ascii_alphanumeric) {
            crypt(text, at).or_else(|| named(text, at)).into_iter().for_each(&mut push);
        }
    }
    if text.contains('{') {
        for (at, _) in text.match_indices('{') {
            braced(text, at).into_iter().for_each(&mut push);
        }
    }
}

fn is_field(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"./+=,_-".contains(&b)
}

/// The fields between the `$` from `at` on, and where the last ends.
fn fields(text: &str, at: usize) -> (Vec<&str>, usize) {
    let most = text.floor_char_boundary(at + LONGEST);
    let length = text.as_bytes()[at..most].iter().take_while(|b| is_field(**b) || **b == b'$').count();
    let run = &text[at..at + length];
    (run.split('$').collect(), at + length)
}

/// `$scheme$salt$hash`, `$2b$12$…`
fn crypt(text: &str, at: usize) -> Option<(usize, usize)> {
    let (fields, end) = fields(text, at + 1);
    let hash = fields.last()?.trim_end_matches(['.', ',']);
    let is_long = hash.len() >= MIN_HASH;
    match fields[..] {
        ["2" | "2a" | "2b" | "2x" | "2y", cost, hash] if cost.len() == 2 && hash.len() >= BCRYPT => {
            Some((at, end - hash.len() + BCRYPT))
        }
        ["P" | "H", hash] if hash.len() == 31 => Some((at, end)),
        ["1" | "5" | "6" | "7" | "y" | "gy" | "apr1" | "sha1" | "md5", _, .., _] if is_long => {
            Some((at, end))
        }
        [scheme, _, .., _] if is_long && NAMES.iter().any(|name| scheme.starts_with(name)) => Some((at, end)),
        _ => None,
    }
}

/// `pbkdf2_sha256$600000$salt$hash`
fn named(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b':');
    let length = bytes[..at].iter().rev().take(40).take_while(|b| is_name(b)).count();
    let name = &text[at - length..at];
    let start = NAMES.iter().filter_map(|known| name.find(known)).min()?;
    let (fields, end) = fields(text, at + 1);
    let is_hash = fields.len() >= 2 && fields.last().is_some_and(|hash| hash.len() >= MIN_HASH);
    is_hash.then_some((at - length + start, end))
}

/// `{SSHA}…`
fn braced(text: &str, at: usize) -> Option<(usize, usize)> {
    SCHEMES.iter().find(|scheme| text[at..].starts_with(**scheme))?;
    let close = at + text[at..text.floor_char_boundary(at + 20)].find('}')? + 1;
    let length =
        text.as_bytes()[close..].iter().take(LONGEST).take_while(|b| is_field(**b) || **b == b'$').count();
    (length >= MIN_HASH).then_some((at, close + length))
}

#[cfg(test)]
mod tests {
    use crate::text::redact::redact;

    #[test]
    fn b_03_hashes_of_passwords_go_in_every_form() {
        for hash in [
            "$2y$10$abcdefghijklmnopqrstuuE4mQpV1rS7tU8wXyZ0a1B2c3D4e5F6g",
            "$apr1$x8aK2b1Q$Zc0d9e8f7g6h5i4j3k2l1/",
            "$6$rounds=5000$salt$3aB9cD8eF7gH6iJ5kL4mN3oP2qR1sT0uV9wX8yZ7aB6cD5eF4gH3iJ2kL1mN0oP",
            "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG",
            "$P$B9wXyZ0a1B2c3D4e5F6g7h8i9j0k1l2",
            "pbkdf2_sha256$600000$abcDEF$c29tZXNhbHRzb21lc2FsdHNvbWVzYWx0c29tZQ=",
            "{SSHA}c29tZXNhbHRzb21lc2FsdHNvbWVzYWx0",
        ] {
            for text in [format!("ada:{hash}"), format!("the row says {hash} today"), format!("h = '{hash}'")]
            {
                let redacted = redact(&text).text.into_owned();
                assert!(!redacted.contains(&hash[hash.len() - 10..]), "{redacted}");
            }
        }
        for text in
            ["$2y is the prefix", "cost $5$ or $6$", "echo $1 $2", "${HOME}$PATH", "a$b$c", "{MD5} of it"]
        {
            assert_eq!(redact(text).text, text);
        }
    }
}
