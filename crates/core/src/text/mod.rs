//! What may pass, and how it is cleaned.
//!
//! Whatever Rekindle adds to a file, indexes, injects or sends comes through [`admit`]: first [`clean`], then
//! [`redact`]. In that order, because a zero-width character or a colour code in the middle of a token hides it from
//! the scanners and not from whoever uses it. Bytes that people typed into their own files are not touched;
//! [`redact::find`] says where a secret stands in them.
//!
//! - [`clean`]: no escape sequences, control or invisible characters (B-02)
//! - [`redact`]: no secrets (B-03, SEC-04)
//! - [`fence`]: what is put in front of an agent, and known again
//! - [`normal`]: when two texts say the same
//! - [`terminal`]: what may reach a terminal
//! - [`specifics`]: what in a statement must not be made up
//! - [`word_rarity`]: how rare a word is in general

pub mod clean;
pub mod common_words;
pub mod contradiction;
pub mod domain_stopwords;
pub mod fence;
pub mod host_tags;
pub mod normal;
pub mod phrases;
pub mod redact;
pub(crate) mod runs;
pub mod sentences;
pub mod similarity;
pub mod specifics;
pub mod terminal;
pub mod terms;
pub mod tokens;
pub mod word_rarity;
pub(crate) mod word_sets;

pub use redact::Counts;

/// Text that may be written, and what was taken out of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The text, clean and without secrets.
    pub text: String,
    /// How many secrets of each kind are no longer in it.
    pub redacted: Counts,
}

/// What of `text` may be written: every writer's door.
pub fn admit(text: &str) -> Admitted {
    let cleaned = clean::clean(text);
    let redact::Redacted { text, counts } = redact::redact(&cleaned);
    Admitted { text: text.into_owned(), redacted: counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = concat!("ghp_", "q8Zk2Lw9Xc4Vb7Nm1Pd6Rt3Yh5Jf0Gs8Ae2K");

    #[test]
    fn b_03_a_token_split_by_what_cannot_be_seen_is_caught() {
        for split in
            ["\u{200B}", "\u{AD}", "\u{2060}", "\u{1b}[31m", "\u{1b}[0m\u{200D}", "\u{7}", "\u{E0041}"]
        {
            let (one, other) = TOKEN.split_at(15);
            let admitted = admit(&format!("use {one}{split}{other} for pushes"));
            assert_eq!(admitted.text, "use [redacted:github-token] for pushes", "{split:?}");
            assert_eq!(admitted.redacted.to_string(), "1 github-token");
        }
    }

    #[test]
    fn b_03_a_colour_before_a_token_does_not_hide_it() {
        assert_eq!(admit(&format!("\u{1b}[32m{TOKEN}\u{1b}[0m")).text, "[redacted:github-token]");
    }

    #[test]
    fn plain_text_is_admitted_as_it_is() {
        let text = "Prefer small commits.\n\tSee docs/adr.";
        assert_eq!(admit(text), Admitted { text: text.to_owned(), redacted: Counts::default() });
    }
}
