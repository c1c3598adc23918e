//! Scanner for tokens with a recognisable shape and no unique prefix: JWTs, bot tokens, two-part keys.

use super::SecretKind;
use super::prescan::ScanMarks;
use super::values::{distinct_bytes, looks_random};
use super::walk::{RunEndCache, SecretSpan, base64, run_end, starts_word};

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut ends = RunEndCache::default();
    let mut from = 0;
    for &at in &marks.shapes {
        if at < from {
            continue;
        }
        let hit = match bytes[at] {
            b'e' => jwt(bytes, at, &mut ends),
            b'M' | b'N' | b'O' => discord(text, at, &mut ends),
            b'S' => sendgrid(bytes, at, &mut ends),
            b'p' => airtable(bytes, at, &mut ends),
            b':' => telegram(bytes, at, &mut ends),
            b'Q' => azure_client_secret(bytes, at),
            b'A' => aws_secret_beside(text, at),
            _ => None,
        };
        // A shape may begin before the byte that revealed it, and end after it.
        if let Some(span) = hit {
            from = span.end;
            found.push(span);
        }
    }
}

fn is_url_safe(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')
}

/// The ranges of at most `most` dot-separated parts that begin at `at`.
fn dotted_parts(bytes: &[u8], at: usize, most: usize, ends: &mut RunEndCache) -> Vec<(usize, usize)> {
    let mut parts = Vec::with_capacity(most);
    let mut start = at;
    while parts.len() < most {
        let end = ends.find(bytes, start, is_url_safe);
        parts.push((start, end));
        if bytes.get(end) != Some(&b'.') {
            break;
        }
        start = end + 1;
    }
    parts
}

fn lengths(parts: &[(usize, usize)]) -> Vec<usize> {
    parts.iter().map(|(start, end)| end - start).collect()
}

/// Finds a JWT: header, payload and signature, or the five parts of an encrypted one. If the payload is JSON,
/// the signature may be missing, because the token was cut or has none.
fn jwt(bytes: &[u8], at: usize, ends: &mut RunEndCache) -> Option<SecretSpan> {
    // Base64 of `{"` and of `{ "`.
    let is_json = |at: usize| bytes[at..].starts_with(b"eyJ") || bytes[at..].starts_with(b"eyAi");
    if !is_json(at) || !starts_word(bytes, at) {
        return None;
    }
    let parts = dotted_parts(bytes, at, 5, ends);
    let lengths = lengths(&parts);
    let [header, payload, rest @ ..] = &lengths[..] else { return None };
    let json = is_json(parts[1].0);
    let signed = rest.first().is_some_and(|signature| *signature >= 8);
    let encrypted = rest.len() == 3;
    if *header < 10 || !((json && *payload >= 8) || (signed && *payload >= 16) || (encrypted && signed)) {
        return None;
    }
    let last = if encrypted { 4 } else { parts.len().min(3) - 1 };
    let end = if parts[last].0 == parts[last].1 { parts[last].0 - 1 } else { parts[last].1 };
    Some(SecretSpan { kind: SecretKind::Jwt, start: at, end })
}

/// Finds a Discord bot token: an id in base64, a time and a signature. The id decodes to digits, which makes
/// this reliable.
fn discord(text: &str, at: usize, ends: &mut RunEndCache) -> Option<SecretSpan> {
    let bytes = text.as_bytes();
    if !starts_word(bytes, at) {
        return None;
    }
    let first = ends.find(bytes, at, is_url_safe);
    if !(23..=28).contains(&(first - at)) {
        return None;
    }
    let parts = dotted_parts(bytes, at, 3, ends);
    let [_, 5..=7, 25..=50] = lengths(&parts)[..] else { return None };
    let id = base64(&text[at..first])?;
    let digits = !id.is_empty() && id.iter().all(u8::is_ascii_digit);
    digits.then_some(SecretSpan { kind: SecretKind::DiscordToken, start: at, end: parts[2].1 })
}

fn sendgrid(bytes: &[u8], at: usize, ends: &mut RunEndCache) -> Option<SecretSpan> {
    if !bytes[at..].starts_with(b"SG.") || !starts_word(bytes, at) {
        return None;
    }
    let parts = dotted_parts(bytes, at + 3, 2, ends);
    let [16..=64, 16..=128] = lengths(&parts)[..] else { return None };
    let varied = bytes[parts[0].0..parts[0].1].iter().any(|b| *b != bytes[parts[0].0]);
    varied.then_some(SecretSpan { kind: SecretKind::SendgridKey, start: at, end: parts[1].1 })
}

/// Finds an Airtable token: `pat`, an id of fourteen characters, a dot and 64 hex digits.
fn airtable(bytes: &[u8], at: usize, ends: &mut RunEndCache) -> Option<SecretSpan> {
    if !bytes[at..].starts_with(b"pat") || !starts_word(bytes, at) {
        return None;
    }
    let parts = dotted_parts(bytes, at, 2, ends);
    let [17, 64] = lengths(&parts)[..] else { return None };
    let hex = bytes[parts[1].0..parts[1].1].iter().all(u8::is_ascii_hexdigit);
    hex.then_some(SecretSpan { kind: SecretKind::VendorToken, start: at, end: parts[1].1 })
}

/// Finds a Telegram bot token: a number, a colon and 35 characters that begin with `AA`. In a URL the number
/// follows `bot` directly, so the search starts at the colon.
fn telegram(bytes: &[u8], colon: usize, ends: &mut RunEndCache) -> Option<SecretSpan> {
    if !bytes[colon + 1..].starts_with(b"AA") {
        return None;
    }
    let digits = bytes[..colon].iter().rev().take(12).take_while(|b| b.is_ascii_digit()).count();
    let end = ends.find(bytes, colon + 1, is_url_safe);
    let fits = (8..=11).contains(&digits) && (30..=45).contains(&(end - colon - 1));
    fits.then_some(SecretSpan { kind: SecretKind::TelegramToken, start: colon - digits, end })
}

/// Finds the client secret of an Entra application: three characters, a digit, `Q~` and about thirty more.
fn azure_client_secret(bytes: &[u8], at: usize) -> Option<SecretSpan> {
    let belongs = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'~' | b'.' | b'-');
    let start = at.checked_sub(4)?;
    if bytes.get(at + 1) != Some(&b'~')
        || !bytes[at - 1].is_ascii_digit()
        || !bytes[start..at].iter().all(|b| belongs(*b))
        || !starts_word(bytes, start)
    {
        return None;
    }
    let most = bytes.len().min(at + 60);
    let run = run_end(&bytes[..most], at + 2, belongs);
    let end = if bytes[run - 1] == b'.' { run - 1 } else { run };
    (28..=40).contains(&(end - at - 2)).then_some(SecretSpan { kind: SecretKind::AzureKey, start, end })
}

/// Finds the forty characters of an AWS secret key near an access key id, without a name of their own, as in
/// a credentials file that was pasted as two columns or two lines.
fn aws_secret_beside(text: &str, at: usize) -> Option<SecretSpan> {
    const MAX_SECRET_DISTANCE: usize = 120;
    let bytes = text.as_bytes();
    let is_id = (bytes[at..].starts_with(b"AKIA") || bytes[at..].starts_with(b"ASIA"))
        && starts_word(bytes, at)
        && bytes[at..].iter().take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit()).count() == 20;
    if !is_id {
        return None;
    }
    let belongs = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'+');
    let mut start = at + 20;
    let end = bytes.len().min(start + MAX_SECRET_DISTANCE);
    while start < end {
        if !belongs(bytes[start]) {
            start += 1;
            continue;
        }
        let run = run_end(bytes, start, belongs);
        let hex = bytes[start..run].iter().all(u8::is_ascii_hexdigit);
        if run - start == 40
            && !hex
            && distinct_bytes(&text[start..run]) > 12
            && looks_random(&text[start..run])
        {
            return Some(SecretSpan { kind: SecretKind::AwsSecretKey, start, end: run });
        }
        start = run;
    }
    None
}
