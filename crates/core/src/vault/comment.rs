//! HTML comments with machine-readable data in a document; note apps hide them.

/// The first word of our comments.
const COMMENT_PREFIX: &str = "rekindle";

/// Renders `<!-- rekindle key=value … -->`. Values are encoded, so that they cannot end the comment.
pub(crate) fn render(pairs: &[(&str, &str)]) -> String {
    let words: String = pairs.iter().map(|(key, value)| format!(" {}", comment_pair(key, value))).collect();
    format!("<!-- {COMMENT_PREFIX}{words} -->")
}

/// Renders one key and its encoded value.
pub(crate) fn comment_pair(key: &str, value: &str) -> String {
    format!("{key}={}", escape(value, b","))
}

/// Parses a comment of ours into pairs; use [`value`] to look up a key.
pub(crate) fn parse(comment: &str) -> Option<Vec<(String, String)>> {
    let inner = comment.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
    let mut words = inner.split_whitespace();
    if words.next() != Some(COMMENT_PREFIX) {
        return None;
    }
    let pairs = words.filter_map(|word| word.split_once('='));
    Some(pairs.map(|(key, value)| (key.to_owned(), decode(value))).collect())
}

/// The value of `key`, if present.
pub(crate) fn value<'a>(pairs: &'a [(String, String)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

/// Encodes several values as one.
pub(crate) fn list(values: &[String]) -> String {
    values.iter().map(|value| encode(value)).collect::<Vec<_>>().join(",")
}

/// The inverse of [`list`].
pub(crate) fn parse_list(list: &str) -> Vec<String> {
    list.split(',').filter(|value| !value.is_empty()).map(decode).collect()
}

/// The start of the comment that ends `text`, ignoring blanks after it. An escaped opener does not count.
pub(crate) fn find_trailing(text: &str) -> Option<usize> {
    let text = text.trim_end();
    let at = text.rfind("<!--").filter(|_| text.ends_with("-->"))?;
    let slashes = at - text[..at].trim_end_matches('\\').len();
    let closed_before = text[at..].find("-->").is_some_and(|close| at + close + 3 < text.len());
    (slashes.is_multiple_of(2) && !closed_before).then_some(at)
}

/// Encodes a value as one word without a comma.
pub(crate) fn encode(value: &str) -> String {
    escape(value, b"")
}

/// Replaces everything except plain word characters and `also` by `%XX`. This includes a hyphen after a
/// hyphen, which comments forbid, and one at the end.
fn escape(value: &str, also: &[u8]) -> String {
    let mut out = String::with_capacity(value.len());
    for (at, byte) in value.bytes().enumerate() {
        let hyphen = byte == b'-' && !out.ends_with('-') && at + 1 < value.len();
        if hyphen || byte.is_ascii_alphanumeric() || b"._:/+@".contains(&byte) || also.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The inverse of [`encode`]. Invalid escapes stay, because people edit comments too.
pub(crate) fn decode(value: &str) -> String {
    let mut out = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(|_| byte == b'%') {
            Some(decoded) => {
                out.push(decoded);
                rest = &after[2..];
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn values_read_back_and_cannot_end_the_comment(a in "[-a>%, ]{0,8}|\\PC{0,12}", b in prop::collection::vec("[-a>%, ]{0,8}|\\PC{0,12}", 0..4)) {
            let full: Vec<String> = b.into_iter().filter(|value| !value.is_empty()).collect();
            let joined = list(&full);
            let comment = render(&[("a", &a), ("b", &joined)]);
            prop_assert_eq!(comment.matches("--").count(), 2);
            let pairs = parse(&comment).unwrap();
            prop_assert_eq!(value(&pairs, "a"), Some(a.as_str()));
            prop_assert_eq!(parse_list(value(&pairs, "b").unwrap()), full);
        }
    }

    #[test]
    fn only_our_comments_are_read() {
        assert_eq!(parse("<!-- note to self -->"), None);
        assert_eq!(parse("<!-- rekindle -->"), Some(vec![]));
        assert_eq!(find_trailing("a <!-- x -->  "), Some(2));
        assert_eq!(find_trailing("a \\<!-- x -->"), None);
        assert_eq!(find_trailing("a <!-- x --> b -->"), None);
        assert_eq!(find_trailing("a"), None);
    }
}
