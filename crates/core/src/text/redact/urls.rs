//! Scanner for secrets in URLs: the password before the host, and webhook addresses.

use super::SecretKind;
use super::placeholders::is_template;
use super::prescan::ScanMarks;
use super::values::{distinct_bytes, looks_random};
use super::walk::{MASK_BYTE, SecretSpan, judged_part, run_end};

/// True for a byte that ends a URL in running text.
fn ends_url(b: u8) -> bool {
    b.is_ascii_whitespace() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'|' | MASK_BYTE)
}

/// A substring of every webhook address.
const HOOK: &str = "hook";
/// Hosts and paths of webhooks, up to the secret.
const WEBHOOKS: [&str; 8] = [
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "hooks.zapier.com/hooks/catch/",
    "hook.eu1.make.com/",
];

pub(super) fn scan(text: &str, marks: &ScanMarks, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    for &at in marks.signs.iter().filter(|at| bytes[**at..].starts_with(b"://")) {
        let start = at + "://".len();
        if at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'+') {
            found.extend(password(text, start));
        }
    }
    // A text without this substring contains no webhook.
    let webhooks = if text.contains(HOOK) { &WEBHOOKS[..] } else { &[] };
    for webhook in webhooks {
        let mut from = 0;
        while let Some(start) = text[from..].find(webhook).map(|at| from + at + webhook.len()) {
            let end = run_end(bytes, start, |b| {
                b.is_ascii_alphanumeric() || matches!(b, b'/' | b'-' | b'_' | b'@')
            });
            let last = text[start..end].rsplit('/').next().unwrap_or_default();
            if end - start >= 16 && distinct_bytes(judged_part(last)) >= 5 {
                found.push(SecretSpan { kind: SecretKind::WebhookUrl, start, end });
            }
            from = end;
        }
    }
}

/// The password in the authority that begins at `start`, or a user name that is a token.
fn password(text: &str, start: usize) -> Option<SecretSpan> {
    let bytes = text.as_bytes();
    // The next URL's scheme limits this one, which keeps a text full of `://` cheap.
    let next = text[start..].find("://").map_or(bytes.len(), |length| start + length);
    let end = start + bytes[start..next].iter().position(|b| ends_url(*b)).unwrap_or(next - start);
    let path =
        start + bytes[start..end].iter().position(|b| matches!(b, b'/' | b'?' | b'#')).unwrap_or(end - start);
    let at_sign = |to: usize| bytes[start..to].iter().rposition(|b| *b == b'@').map(|at| start + at);
    let colon = bytes[start..path].iter().position(|b| *b == b':').map(|at| start + at);
    // A bracket opens an IPv6 host, or marks an optional part.
    if bytes.get(start) == Some(&b'[') {
        return None;
    }
    let host = match (at_sign(path), colon) {
        (Some(host), _) => host,
        // A password with an unescaped `/`, `?` or `#` in it. A port is all digits.
        (None, Some(colon)) => {
            let port = bytes[colon + 1..path].iter().all(u8::is_ascii_digit);
            if port {
                return None;
            }
            at_sign(end)?
        }
        (None, _) => return None,
    };
    match colon.filter(|colon| *colon < host) {
        Some(colon) => {
            let value = &text[colon + 1..host];
            let literal = !value.is_empty() && !is_template(judged_part(value));
            literal.then_some(SecretSpan { kind: SecretKind::UrlPassword, start: colon + 1, end: host })
        }
        None => {
            let user = judged_part(&text[start..host]);
            let hex = user.len() >= 32 && user.bytes().all(|b| b.is_ascii_hexdigit());
            (hex || looks_random(user)).then_some(SecretSpan {
                kind: SecretKind::UrlPassword,
                start,
                end: host,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_word_is_in_every_webhook() {
        assert!(WEBHOOKS.iter().all(|webhook| webhook.contains(HOOK)));
    }
}
