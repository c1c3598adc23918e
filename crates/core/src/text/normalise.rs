//! The normal form in which two texts count as equal: for tombstones of forgotten text (B-08) and for
//! duplicate lines.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use super::clean::{clean, single_spaced};

/// Trailing punctuation that does not make a line different.
const LINE_END_PUNCTUATION: [char; 15] =
    ['.', ',', ';', ':', '!', '?', '…', '。', '、', '．', '،', '؛', '؟', '।', '۔'];

/// The maximum number of passes. Real text needs fewer; the limit is for adversarial text.
const MAX_FOLDING_ROUNDS: usize = 8;

/// Normalises `text`: sanitised, NFKC, lower case, without Markdown markers, with single spaces and without
/// trailing punctuation. Idempotent.
pub fn normalise(text: &str) -> String {
    let mut current = reduced(text);
    // Removing one marker can expose another (`*-* x`), and lower-casing can produce a form that composes
    // anew.
    for _ in 0..MAX_FOLDING_ROUNDS {
        let next = reduced(&current);
        if next == current {
            break;
        }
        current = next;
    }
    current
}

fn reduced(text: &str) -> String {
    let folded = fold_case(&clean(text));
    let unmarked = without_emphasis(&folded);
    let lines: Vec<&str> = unmarked.lines().map(without_line_markers).collect();
    let mut line = single_spaced(&lines.join(" "), usize::MAX);
    line.truncate(
        line.trim_end_matches(|c: char| c.is_whitespace() || LINE_END_PUNCTUATION.contains(&c)).len(),
    );
    line
}

/// The text in NFKC and lower case.
fn fold_case(text: &str) -> String {
    // ASCII is in NFKC already.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.nfkc().flat_map(char::to_lowercase).nfkc().collect()
}

/// Removes emphasis, strike-through and code marks. An underscore between letters is part of a name and
/// stays.
fn without_emphasis(text: &str) -> Cow<'_, str> {
    if !text.bytes().any(|b| matches!(b, b'*' | b'`' | b'~' | b'_')) {
        return Cow::Borrowed(text);
    }
    let bare: String = text.chars().filter(|c| !matches!(c, '*' | '`')).collect::<String>().replace("~~", "");
    let mut out = String::with_capacity(bare.len());
    let mut rest = bare.as_str();
    while let Some(start) = rest.find('_') {
        let (before, from) = rest.split_at(start);
        let after = from.trim_start_matches('_');
        out.push_str(before);
        let inside = out.ends_with(char::is_alphanumeric) && after.starts_with(char::is_alphanumeric);
        if inside {
            out.push_str(&from[..from.len() - after.len()]);
        }
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Removes the marker of a quote, a heading, a list item or a task.
fn without_line_markers(line: &str) -> &str {
    let mut line = line.trim_start();
    while let Some(rest) = after_marker(line) {
        line = rest.trim_start();
    }
    line
}

fn after_marker(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix('>') {
        return Some(rest);
    }
    let heading = line.trim_start_matches('#');
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if matches!(line.len() - heading.len(), 1..=6) {
        heading
    } else if matches!(line.len() - digits.len(), 1..=3) {
        digits.strip_prefix(['.', ')'])?
    } else {
        ["- ", "+ ", "[ ]", "[x]", "[-]", "•"]
            .iter()
            .find_map(|marker| line.strip_prefix(marker.trim_end()))?
    };
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn b_08_the_same_words_are_the_same_text() {
        let plain = normalise("Use pnpm, never npm");
        for other in [
            "- Use pnpm, never npm.",
            "* **Use** `pnpm`,  never\n  npm!",
            "> ## use PNPM, never _npm_",
            "1. [x] Use ~~pnpm~~, never npm…",
            "Ｕｓｅ pn\u{200B}pm, never\u{A0}npm",
            "  - [ ] Use pnpm, never npm ;",
        ] {
            assert_eq!(normalise(other), plain, "{other}");
        }
    }

    #[test]
    fn b_08_different_words_stay_different() {
        for (one, other) in [
            ("use pnpm", "use npm"),
            ("set max_tokens", "set maxtokens"),
            ("C#", "C"),
            ("version 1.2", "version 12"),
            ("-5 degrees", "5 degrees"),
            ("2026. A year", "A year"),
        ] {
            assert_ne!(normalise(one), normalise(other));
        }
    }

    #[test]
    fn names_keep_their_underscores() {
        assert_eq!(normalise("call `parse_token` in __init__"), "call parse_token in init");
    }

    #[test]
    fn accents_compose_and_scripts_fold() {
        assert_eq!(normalise("Cafe\u{301} ＣＡＦÉ"), "café café");
        assert_eq!(normalise("ПАРОЛЬ。"), "пароль");
    }

    #[test]
    fn plain_letters_are_folded_as_all_are() {
        let all: String = ('\0'..='\x7f').collect();
        let long: String = all.nfkc().flat_map(char::to_lowercase).nfkc().collect();
        assert_eq!(fold_case(&all), long);
    }

    #[test]
    fn nothing_but_markers_is_nothing() {
        for text in ["", "  ", "- ", "***", "> #", "...", "- [ ] "] {
            assert_eq!(normalise(text), "", "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn normalising_is_idempotent(text in "\\PC{0,40}", marked in "[-*_>#` .a1\\[\\]x~…ǅİΣ\n]{0,40}") {
            for text in [text, marked] {
                let once = normalise(&text);
                prop_assert_eq!(normalise(&once), once);
            }
        }

        #[test]
        fn decoration_does_not_change_what_a_text_is(words in "[a-z]{1,8}( [a-z]{1,8}){0,5}") {
            let decorated = format!("> - **{}**.", words.to_uppercase().replace(' ', "\n  "));
            prop_assert_eq!(normalise(&decorated), words);
        }
    }
}
