//! Lines and sentences that a person typed, and tests of their first words.
//!
//! Every search for requests, rules or decisions starts here, so that none of them takes code or a quotation
//! for the person's own words.

/// The lines that the person typed. Code and quotations are replaced by empty lines.
pub(crate) fn lines(message: &str) -> Vec<&str> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for line in message.lines() {
        let trimmed = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => {
                fence = Some(mark);
                lines.push("");
            }
            (Some(open), Some(mark)) if open == mark => fence = None,
            (Some(_), _) => {}
            (None, None) if trimmed.starts_with(['>', '|', '<', '{', '}', '#', '$', '+']) => lines.push(""),
            (None, None) if line.starts_with("    ") || line.starts_with('\t') => lines.push(""),
            (None, None) => lines.push(trimmed),
        }
    }
    lines
}

/// The sentences of a line, each with its end mark.
pub(crate) fn split_sentences(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut signs = line.char_indices().peekable();
    while let Some((at, sign)) = signs.next() {
        let ends = match sign {
            // A point inside of a number, a name or a path does not end a sentence.
            '.' | '!' | '?' => signs.peek().is_none_or(|(_, next)| next.is_whitespace()),
            '。' | '！' | '？' => true,
            _ => false,
        };
        if ends {
            let end = at + sign.len_utf8();
            sentences.push(line[start..end].trim());
            start = end;
        }
    }
    sentences.push(line[start..].trim());
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// `sentence` folded for phrase matching: in lower case, with straight apostrophes, without leading bullets.
pub(crate) fn fold(sentence: &str) -> String {
    let lower = sentence.to_lowercase().replace('’', "'");
    let start =
        lower.trim_start_matches(|c: char| matches!(c, '-' | '*' | '•' | '¡' | '(') || c.is_whitespace());
    start.to_owned()
}

/// True if a folded sentence is a question or begins with a quotation, so that it states nothing.
pub(crate) fn asks_or_quotes(folded: &str) -> bool {
    folded.ends_with(['?', '？'])
        || folded.starts_with(['"', '\'', '“', '”', '„', '«', '»', '‘', '`', '¿', '「', '『'])
}

/// The phrases of a word list, separated by `|` and line breaks.
pub(crate) fn split_phrases(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(['|', '\n']).map(str::trim).filter(|phrase| !phrase.is_empty())
}

/// The rest of `text` if it begins with `words` as whole words.
pub(crate) fn strip_words<'a>(text: &'a str, words: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(words)?;
    let ends =
        words.ends_with(|c: char| !c.is_alphanumeric()) || !rest.starts_with(|c: char| c.is_alphanumeric());
    ends.then(|| {
        rest.trim_start_matches(|c: char| {
            matches!(c, ',' | '!' | '.' | ':' | '-' | '–' | '—') || c.is_whitespace()
        })
    })
}

/// True if `text` has characters of a script without spaces between words.
pub(crate) fn is_dense(text: &str) -> bool {
    text.chars().any(is_dense_char)
}

/// True for a character of a script without spaces.
pub(crate) fn is_dense_char(c: char) -> bool {
    matches!(c as u32, 0x3040..=0x30FF | 0x3400..=0x9FFF)
}

/// Strips Markdown bullets, emphasis and list numbers from a sentence.
pub fn strip_markdown(sentence: &str) -> String {
    let bare = sentence.trim().trim_start_matches(['-', '*', '•', '#', '>', ' ']);
    let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
    let bare = match digits.strip_prefix(". ").or_else(|| digits.strip_prefix(") ")) {
        Some(rest) if digits.len() < bare.len() => rest,
        _ => bare,
    };
    bare.replace("**", "").replace("__", "").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_is_stripped_from_a_sentence() {
        assert_eq!(strip_markdown("- **Cause**: the clock"), "Cause: the clock");
        assert_eq!(strip_markdown("2. It retries"), "It retries");
        assert_eq!(strip_markdown("5433 is the port"), "5433 is the port");
    }
}
