//! Specifics: details of a statement that must not be invented, such as numbers, dates, paths, identifiers,
//! options and quotations (OBS-10, REF-07). Each must occur in the source.

use std::collections::{BTreeSet, HashSet};

use crate::text::terms;

/// The minimum length of a quotation; shorter ones are emphasis.
const MIN_QUOTE_CHARS: usize = 3;
const QUOTES: [(char, char); 6] = [('"', '"'), ('`', '`'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」')];
/// Punctuation at the end of a quotation that is not part of it.
const QUOTE_END_PUNCTUATION: [char; 8] = ['.', ',', ';', ':', '!', '?', ' ', '…'];

/// The specifics of a text, in lower case.
pub fn specifics(text: &str) -> BTreeSet<String> {
    let mut found: BTreeSet<String> = split(text).filter(|word| is_specific(word)).map(lower).collect();
    found.extend(quotations(text));
    found.extend(called(text));
    found
}

/// True if a specific is a small whole number, because a count may be the writer's own.
pub fn is_count(specific: &str) -> bool {
    specific.len() < 3 && specific.bytes().all(|b| b.is_ascii_digit())
}

/// True if a specific is a time of day, which only the transcript can supply.
pub fn is_clock(specific: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.len() <= 2 && part.bytes().all(|b| b.is_ascii_digit());
    specific.split_once(':').is_some_and(|(hour, minute)| digits(hour) && minute.len() == 2 && digits(minute))
}

/// The terms of a text, for testing if another text covers them.
pub fn content_words(text: &str) -> HashSet<u64> {
    terms::terms(text).into_iter().map(|(term, _)| term).collect()
}

/// The share of `words` that is in `there`, from 0 to 1; 1 for an empty set.
pub fn coverage(words: &HashSet<u64>, there: &HashSet<u64>) -> f64 {
    match words.len() {
        0 => 1.0,
        all => words.iter().filter(|word| there.contains(word)).count() as f64 / all as f64,
    }
}

/// True if `specific` occurs in `text` as a separate word: `54` is not in `5432`.
pub fn contains_specific(specific: &str, text: &str) -> bool {
    normalised_contains(specific, &normalise_for_specifics(text))
}

/// [`contains_specific`] for a text that is [`normalise_for_specifics`] already.
pub fn normalised_contains(specific: &str, text: &str) -> bool {
    text.match_indices(specific).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + specific.len()..].chars();
        let part = |c: Option<char>| c.is_some_and(|c| (c.is_alphanumeric() && !is_unspaced(c)) || c == '_');
        let (first, last) = (specific.chars().next(), specific.chars().next_back());
        let joins = |edge: Option<char>, next: Option<char>| part(edge) && part(next);
        !joins(first, before) && !joins(last, after.clone().next()) && !continues_number(last, after)
    })
}

/// True if a number continues behind a point, so that `1.2` is not in `1.2.3`.
fn continues_number(last: Option<char>, mut after: impl Iterator<Item = char>) -> bool {
    last.is_some_and(|c| c.is_ascii_digit())
        && matches!(after.next(), Some('.' | ','))
        && after.next().is_some_and(|c| c.is_ascii_digit())
}

/// The form of a text in which specifics are searched: lower case, single spaces, straight apostrophes.
pub fn normalise_for_specifics(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(
            word.chars().map(|c| if matches!(c, '’' | '‘') { '\'' } else { c }).flat_map(char::to_lowercase),
        );
    }
    out
}

/// Lower-cases per character, so that the context of a word does not change it.
fn lower(text: &str) -> String {
    text.chars().map(|c| if matches!(c, '’' | '‘') { '\'' } else { c }).flat_map(char::to_lowercase).collect()
}

/// The words of a text, without surrounding punctuation. Characters of scripts without spaces end a word.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let ends = |c: char| c.is_whitespace() || is_unspaced(c) || (!c.is_ascii() && !c.is_alphanumeric());
    text.split(ends)
        .map(|word| {
            let word = word.trim_start_matches(|c: char| {
                !c.is_alphanumeric() && !matches!(c, '-' | '/' | '~' | '.' | '$' | '_')
            });
            let word = word.trim_end_matches(|c: char| {
                !c.is_alphanumeric() && !matches!(c, '/' | '%' | '+' | '#' | '_')
            });
            // A dash between words does not start an option.
            if word.chars().all(|c| !c.is_alphanumeric()) { "" } else { word.trim_start_matches('.') }
        })
        .filter(|word| !word.is_empty())
}

fn is_specific(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let inside = |wanted: fn(char) -> bool| {
        chars
            .windows(3)
            .any(|three| three[0].is_alphanumeric() && wanted(three[1]) && three[2].is_alphanumeric())
    };
    let camel = chars.windows(2).any(|two| two[0].is_lowercase() && two[1].is_uppercase());
    let shouted = chars.len() >= 3 && chars.iter().all(char::is_ascii_uppercase);
    chars.iter().any(char::is_ascii_digit)
        || word.contains('\\')
        || word.contains("::")
        || word.starts_with("--")
        || word.starts_with(['/', '~', '$'])
        || inside(|c| matches!(c, '_' | '.' | '@' | ':'))
        || is_path(word)
        || camel
        || shouted
}

/// True for paths: `src/lib` is one, `and/or` is two words.
fn is_path(word: &str) -> bool {
    let parts: Vec<&str> = word.split('/').collect();
    parts.len() > 2 || (parts.len() == 2 && parts.iter().any(|part| part.contains(['.', '_', '-'])))
}

/// The names of functions written as calls: `close()`.
fn called(text: &str) -> impl Iterator<Item = String> + '_ {
    let names = text
        .split_whitespace()
        .filter_map(|word| word.split_once("()"))
        .map(|(name, _)| name.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
    names.filter(|name| name.chars().any(char::is_alphanumeric)).map(lower)
}

/// The texts between quotation marks.
fn quotations(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (open, close) in QUOTES {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((inside, behind)) = after.split_once(close) else { break };
            let inside = normalise_for_specifics(inside.trim_matches(QUOTE_END_PUNCTUATION));
            if inside.chars().count() >= MIN_QUOTE_CHARS {
                found.push(inside);
            }
            rest = behind;
        }
    }
    found
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(text: &str) -> Vec<String> {
        specifics(text).into_iter().collect()
    }

    #[test]
    fn ref_07_specifics_are_extracted() {
        assert_eq!(found("Staging listens on port 5432."), ["5432"]);
        assert_eq!(
            found("See `src/pump.rs`, parse_token and parseToken."),
            ["parse_token", "parsetoken", "src/pump.rs"]
        );
        assert_eq!(
            found("Run cargo with --locked since v1.2.3 (2026-11-14)"),
            ["--locked", "2026-11-14", "v1.2.3"]
        );
        assert_eq!(found("ポートは5433です"), ["5433"]);
        assert_eq!(found("It is (drain()) that waits, not close."), ["drain"]);
        assert_eq!(found("They said \"ship it now\"."), ["ship it now"]);
        assert_eq!(
            found("Set DATABASE_URL and ENV in ~/.config/app"),
            ["database_url", "env", "~/.config/app"]
        );
        assert!(found("Prefers tabs and/or short answers – never both.").is_empty());
    }

    #[test]
    fn a_number_is_found_whole_or_not_at_all() {
        assert!(contains_specific("5432", "on port 5432."));
        assert!(!contains_specific("54", "on port 5432"));
        assert!(!contains_specific("1.2", "since 1.2.3"));
        assert!(contains_specific("5433", "ポートは5433です"));
        assert!(contains_specific("src/pump.rs", "(see SRC/pump.rs)"));
        assert!(!contains_specific("src/pump.rs", "see other_src/pump.rs"));
    }

    #[test]
    fn coverage_is_by_words_that_say_something() {
        let there = content_words("we deploy with the blue script on Tuesdays");
        assert!(coverage(&content_words("the deploys are on a Tuesday"), &there) > 0.9);
        assert!(coverage(&content_words("databases are migrated by hand"), &there) < 0.3);
        assert_eq!(coverage(&content_words(""), &there), 1.0);
    }

    #[test]
    fn counts_and_times_are_known() {
        assert!(is_count("3") && is_count("12") && !is_count("8080") && !is_count("v1"));
        assert!(is_clock("10:05") && !is_clock("pool.rs:88") && !is_clock("10:5"));
    }

    proptest! {
        #[test]
        fn every_specific_of_a_text_occurs_in_it(text in "[a-zA-Z0-9_./:\"`() -]{0,60}|\\PC{0,40}") {
            for specific in specifics(&text) {
                prop_assert!(contains_specific(&specific, &text) , "{specific:?} in {text:?}");
            }
        }
    }
}
