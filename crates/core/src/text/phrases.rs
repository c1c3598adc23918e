//! Formats extracted lines and finds phrases in text.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::text;
use crate::text::common_words;
use crate::text::sentences::{is_dense_char, split_phrases, strip_words};

/// The maximum length of a finding.
pub(crate) const MAX_FINDING_CHARS: usize = 300;

static FUNCTION_WORD_SET: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| split_phrases(common_words::FUNCTION_WORDS).collect());

/// `text` as one sanitised and redacted line of at most `most` characters, cut at a word boundary if
/// possible.
pub(crate) fn line(text: &str, most: usize) -> String {
    let admitted = text::clean_and_redact(text).text;
    truncate(&admitted.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// The first `most` characters of a line, with `…` if it was cut.
pub(crate) fn truncate(line: &str, most: usize) -> String {
    let Some((end, _)) = line.char_indices().nth(most) else { return line.to_owned() };
    let kept = &line[..end];
    let whole = kept.rfind(' ').filter(|at| *at > kept.len() / 2).map_or(kept, |at| &kept[..at]);
    format!("{}…", whole.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(')))
}

/// The longest prefix of `text` within `bytes` bytes.
pub(crate) fn truncate_head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The longest suffix of `text` within `bytes` bytes.
pub(crate) fn truncate_tail(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

/// The content words of `text`, in lower case. In scripts without spaces, pairs of characters.
pub(crate) fn content(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let word_sign = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '-' | '’');
    for word in text.split(|c: char| !word_sign(c)).filter(|word| !word.is_empty()) {
        if word.chars().any(is_dense_char) {
            let signs: Vec<char> = word.chars().collect();
            words.extend(signs.windows(2).step_by(2).map(|pair| pair.iter().collect::<String>()));
        } else {
            let word = word.to_lowercase().replace('’', "'");
            if word.chars().count() > 1 && !FUNCTION_WORD_SET.contains(word.as_str()) {
                words.push(word);
            }
        }
    }
    words
}

/// Tests if the folded `text` begins with a phrase of `list` and with none of `but_not`. Returns the rest.
pub(crate) fn strip_phrase<'a>(text: &'a str, list: &'static str, but_not: &'static str) -> Option<&'a str> {
    if split_phrases(but_not).any(|phrase| strip_words(text, phrase).is_some()) {
        return None;
    }
    split_phrases(list).filter_map(|phrase| strip_words(text, phrase)).min_by_key(|rest| rest.len())
}

/// True if the folded `text` contains a phrase of `list` as whole words.
pub(crate) fn has(text: &str, list: &'static str) -> bool {
    split_phrases(list).any(|phrase| find_words(text, phrase).is_some())
}

/// True if a text without spaces contains a phrase of `list`.
pub(crate) fn contains_dense(text: &str, list: &'static str) -> bool {
    split_phrases(list).any(|phrase| text.contains(phrase))
}

/// The position of `words` in `text` as whole words.
pub(crate) fn find_words(text: &str, words: &str) -> Option<usize> {
    let apart = |c: Option<char>, of: bool| !of || !c.is_some_and(char::is_alphanumeric);
    text.match_indices(words).map(|(at, _)| at).find(|at| {
        apart(text[..*at].chars().next_back(), words.starts_with(char::is_alphanumeric))
            && apart(text[at + words.len()..].chars().next(), words.ends_with(char::is_alphanumeric))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_line_clean_and_short() {
        assert_eq!(line("a\n  b\tc", 9), "a b c");
        assert_eq!(line("one two three four", 12), "one two…");
        assert_eq!(line(&"ä".repeat(9), 4), "ääää…");
        let token = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");
        assert_eq!(line(&format!("use {token} now"), 60), "use [redacted:github-token] now");
    }

    #[test]
    fn words_are_whole_words() {
        assert!(has("it is a false alarm, because", "because | since"));
        assert!(!has("sincerely yours", "since"));
        assert!(has("use tabs, not spaces", ", not"));
        assert_eq!(strip_phrase("we decided on it", "we decided | we", ""), Some("on it"));
        assert_eq!(strip_phrase("we decidedly", "we decided", ""), None);
        assert_eq!(content("Let's go with the first option."), Vec::<String>::new());
        assert_eq!(content("go with Postgres"), ["postgres"]);
        assert_eq!(content("数据库端口").len(), 2);
    }
}
