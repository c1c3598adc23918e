//! Text processing: sanitising, redaction, terms, similarity and contradiction.
//!
//! Everything that Rekindle stores in a file, indexes, injects or sends passes through [`clean_and_redact`]: first
//! [`clean`], then [`redact`]. The order matters: a zero-width character or a colour code inside a token
//! hides it from the scanners but not from its user. Bytes that people typed into their own files are not
//! changed; [`redact::find`] locates secrets in them.
//!
//! - [`clean`]: no escape sequences, control or invisible characters (B-02)
//! - [`redact`]: no secrets (B-03, SEC-04)
//! - [`fence`]: markers around injected text, and their recognition
//! - [`normalise`]: the form in which two texts count as equal
//! - [`language`]: a guess at the language of a text
//! - [`terminal`]: safe output to a terminal
//! - [`specific_terms`]: details of a statement that must have a source
//! - [`plural`]: counts with their noun in messages
//! - [`word_rarity`]: how rare a word is in general

pub(crate) mod byte_runs;
pub mod clean;
pub mod common_words;
pub mod contradiction;
pub mod domain_stopwords;
pub mod fence;
pub mod host_tags;
pub mod language;
pub mod normalise;
pub mod phrases;
pub mod plural;
pub mod redact;
pub mod sentences;
pub mod similarity;
pub mod specific_terms;
pub mod terminal;
pub mod terms;
pub mod tokens;
pub mod word_rarity;
pub(crate) mod word_sets;

pub use redact::RedactionCounts;

/// Text that may be stored, with the counts of redacted secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdmittedText {
    /// The text, sanitised and redacted.
    pub text: String,
    /// The number of redacted secrets per kind.
    pub redacted: RedactionCounts,
}

/// Sanitises and redacts a text. Everything that writes must use it.
pub fn clean_and_redact(text: &str) -> AdmittedText {
    let cleaned = clean::clean(text);
    let redact::RedactedText { text, counts } = redact::redact(&cleaned);
    AdmittedText { text: text.into_owned(), redacted: counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

    #[test]
    fn b_03_a_token_split_by_invisible_characters_is_redacted() {
        for split in
            ["\u{200B}", "\u{AD}", "\u{2060}", "\u{1b}[31m", "\u{1b}[0m\u{200D}", "\u{7}", "\u{E0041}"]
        {
            let (one, other) = TOKEN.split_at(15);
            let admitted = clean_and_redact(&format!("use {one}{split}{other} for pushes"));
            assert_eq!(admitted.text, "use [redacted:github-token] for pushes", "{split:?}");
            assert_eq!(admitted.redacted.to_string(), "1 github-token");
        }
    }

    #[test]
    fn b_03_a_colour_before_a_token_does_not_hide_it() {
        assert_eq!(clean_and_redact(&format!("\u{1b}[32m{TOKEN}\u{1b}[0m")).text, "[redacted:github-token]");
    }

    #[test]
    fn plain_text_is_admitted_as_it_is() {
        let text = "Prefer small commits.\n\tSee docs/adr.";
        assert_eq!(
            clean_and_redact(text),
            AdmittedText { text: text.to_owned(), redacted: RedactionCounts::default() }
        );
    }
}
