//! The text of a file in the form that may be indexed: clean (B-02), without secrets (B-03), and with
//! unchanged line numbers.
//!
//! Redaction runs before parsing, so that it does not depend on document boundaries and detects secrets that
//! span several lines.

use std::borrow::Cow;

use crate::text::clean::clean;
use crate::text::redact;

/// Removes secrets and invisible characters from `text`. Lines end in `\n` and keep their numbers.
pub(super) fn redacted_text(text: &str) -> Cow<'_, str> {
    match cleaned(text) {
        Cow::Borrowed(text) => redacted(text).map_or(Cow::Borrowed(text), Cow::Owned),
        Cow::Owned(text) => Cow::Owned(redacted(&text).unwrap_or(text)),
    }
}

fn cleaned(text: &str) -> Cow<'_, str> {
    if matches!(clean(text), Cow::Borrowed(_)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(['\n', '\r']).unwrap_or(rest.len());
        // Unicode line breaks that editors do not count as lines.
        out.push_str(&clean(&rest[..end]).replace('\n', " "));
        let ending = if rest[end..].starts_with("\r\n") { 2 } else { (rest.len() - end).min(1) };
        if ending > 0 {
            out.push('\n');
        }
        rest = &rest[end + ending..];
    }
    Cow::Owned(out)
}

/// Redacts secrets; `None` if the text has none.
fn redacted(text: &str) -> Option<String> {
    let found = redact::find(text);
    if found.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for finding in found {
        out.push_str(&text[from..finding.range.start]);
        out.push_str(&format!("[redacted:{}]", finding.kind));
        let breaks = text[finding.range.clone()].matches('\n').count();
        out.push_str(&"\n".repeat(breaks));
        from = finding.range.end;
    }
    out.push_str(&text[from..]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::vault::lines::parse_lines;

    const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

    #[test]
    fn b_03_secrets_go_and_lines_stay() {
        let key = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\nAgEAAoIBAQC7VJTUt9Us8cKj\n-----END PRIVATE KEY-----";
        let text = format!("one {TOKEN}\n{key}\nlast\n");
        let safe = redacted_text(&text);
        assert!(!safe.contains("ghp_") && !safe.contains("MIIEv"), "{safe}");
        assert_eq!(safe.lines().count(), text.lines().count());
        assert_eq!(safe.lines().last(), Some("last"));
    }

    #[test]
    fn b_03_a_token_split_by_invisible_characters_is_redacted() {
        let (one, other) = TOKEN.split_at(15);
        assert_eq!(
            redacted_text(&format!("\u{feff}a\r\n{one}\u{200B}{other}\r\n")),
            "a\n[redacted:github-token]\n"
        );
    }

    #[test]
    fn clean_text_is_not_copied() {
        assert!(matches!(redacted_text("# One\n\n- two\n"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn every_line_stays_where_it_was(text in "([a-z=: \u{200B}\u{2028}\u{b}\u{1b}\u{feff}]{0,12}(\n|\r|\r\n)?){0,8}") {
            let breaks = |text: &str| parse_lines(text).lines.iter().filter(|line| !line.ending.is_empty()).count();
            let safe = redacted_text(&text);
            prop_assert_eq!(breaks(&safe), breaks(&text), "{:?}", safe);
            prop_assert!(!safe.contains('\r'));
        }
    }
}
