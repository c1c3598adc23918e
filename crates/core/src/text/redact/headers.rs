//! Scanner for `Authorization` and cookies, in raw headers, in `curl -H`, in JSON and in code.

use super::SecretKind;
use super::prescan::ScanMarks;
use super::values::{is_literal, is_token};
use super::walk::{
    MASK_BYTE, RunEndCache, SecretSpan, base64, is_word_in_any_case, judged_part, prefix_in_any_case,
    run_end, skip_blanks,
};

/// Schemes in front of credentials. `Digest` and signatures contain nothing reusable.
const SCHEMES: [&str; 8] = ["bearer", "basic", "token", "bot", "apikey", "api-key", "key", "negotiate"];

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut ends = RunEndCache::default();
    let mut from = 0;
    for &at in &marks.words {
        // Most words are rejected by their first letter.
        let word = match bytes[at].to_ascii_lowercase() {
            b'a' => "authorization",
            b'b' if bytes.get(at + 1).is_some_and(|b| b.eq_ignore_ascii_case(&b'e')) => "bearer",
            b'b' => "basic",
            b'c' => "cookie",
            _ => continue,
        };
        if !is_word_in_any_case(bytes, at, word) {
            continue;
        }
        let end = at + word.len();
        match word {
            "authorization" => found.extend(authorization(text, end, &mut ends)),
            "cookie" if at >= from => from = cookies(text, end, found),
            "cookie" => {}
            scheme => {
                let judge = if scheme == "basic" { is_credential_pair } else { is_bearer };
                let start = after_blank(text, end);
                found.extend(start.and_then(|start| credentials(text, start, &mut ends, judge)));
            }
        }
    }
}

/// The start of a header's value after its name: behind quotes, brackets and the sign.
fn value_start(bytes: &[u8], at: usize) -> Option<usize> {
    let dressing = |b: &u8| matches!(b, b'"' | b'\'' | b'`' | b']' | b'[' | b'\\' | b' ' | b'*' | b'(');
    let skip = |at: usize| at + bytes[at..].iter().take(8).take_while(|b| dressing(b)).count();
    let sign = skip(at);
    let after = match bytes[sign..] {
        [b'=', b'>', ..] => sign + 2,
        [b':' | b'=' | b',', ..] => sign + 1,
        _ => return None,
    };
    Some(skip(after))
}

fn authorization(text: &str, at: usize, ends: &mut RunEndCache) -> Option<SecretSpan> {
    let start = value_start(text.as_bytes(), at)?;
    let scheme = SCHEMES.iter().find_map(|scheme| {
        let end = start + prefix_in_any_case(&text[start..], scheme)?;
        after_blank(text, end)
    });
    match scheme {
        Some(start) => credentials(text, start, ends, is_sent),
        None => credentials(text, start, ends, |value| is_token(value, 8)),
    }
}

/// The position behind at least one space, which may be URL-encoded.
fn after_blank(text: &str, at: usize) -> Option<usize> {
    let end = if text[at..].starts_with("%20") { at + 3 } else { skip_blanks(text.as_bytes(), at) };
    (end > at).then_some(end)
}

fn credentials(
    text: &str,
    start: usize,
    ends: &mut RunEndCache,
    judge: impl Fn(&str) -> bool,
) -> Option<SecretSpan> {
    let belongs = |b: u8| {
        b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':')
    };
    let bytes = text.as_bytes();
    let run = ends.find(bytes, start, belongs);
    // A variable, a call or a placeholder continues where a token cannot.
    let goes_on = bytes.get(run).is_some_and(|b| matches!(*b, b'$' | b'{' | b'<' | b'(' | b'[' | MASK_BYTE));
    let end = start + text[start..run].trim_end_matches(['.', ':']).len();
    (!goes_on && end > start && ends.may_try() && judge(judged_part(&text[start..end])))
        .then_some(SecretSpan { kind: SecretKind::Authorization, start, end })
}

/// True if a value is a credential in `Authorization: Bearer`: anything except a word or a name.
fn is_sent(value: &str) -> bool {
    let letters = value.bytes().all(|b| b.is_ascii_alphabetic());
    is_credential_pair(value) || (is_literal(value, 6, false) && (!letters || value.len() >= 20))
}

/// True if a value is a token after `Bearer` in running text, where words are more frequent.
fn is_bearer(value: &str) -> bool {
    is_token(value, 16)
}

/// True if `value` is a base64-encoded pair of name and password, as in `Basic`.
pub(super) fn is_credential_pair(value: &str) -> bool {
    value.len() >= 8
        && base64(value).is_some_and(|pair| {
            pair.contains(&b':') && pair.iter().all(|b| (b' '..=b'~').contains(b)) && pair.len() >= 4
        })
}

/// Attributes of `Set-Cookie`, whose values are not secret.
const ATTRIBUTES: [&str; 7] = ["path", "domain", "expires", "max-age", "samesite", "version", "priority"];

/// Redacts the values of the cookies in the header whose name ends at `at`. Returns the end of the header.
fn cookies(text: &str, at: usize, found: &mut Vec<SecretSpan>) -> usize {
    let bytes = text.as_bytes();
    let Some(start) = value_start(bytes, at) else { return at };
    let ends_header = |b: u8| matches!(b, b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | MASK_BYTE);
    let end = run_end(bytes, start, |b| !ends_header(b));
    let mut from = start;
    for pair in text[start..end].split(';') {
        if let Some((name, value)) = pair.split_once('=')
            && is_cookie(name.trim(), judged_part(value.trim()))
        {
            let value_start = from + name.len() + 1 + (value.len() - value.trim_start().len());
            found.push(SecretSpan {
                kind: SecretKind::Cookie,
                start: value_start,
                end: value_start + value.trim().len(),
            });
        }
        from += pair.len() + 1;
    }
    end
}

fn is_cookie(name: &str, value: &str) -> bool {
    const SESSIONS: [&str; 8] = ["sess", "sid", "auth", "token", "jwt", "csrf", "xsrf", "remember"];
    let name = name.to_ascii_lowercase();
    let named =
        !name.is_empty() && name.len() <= 80 && !name.contains(' ') && !ATTRIBUTES.contains(&name.as_str());
    let session = SESSIONS.iter().any(|part| name.contains(part));
    named && !value.contains(' ') && if session { is_literal(value, 6, false) } else { is_token(value, 16) }
}
