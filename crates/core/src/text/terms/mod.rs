//! Splits text into terms for lexical search (STO-13, REC-01).
//!
//! - words in lower case, without accents, stemmed as English; function words are left out
//! - identifiers whole and in their parts: `parse_token`, `parseToken`, `core/src/lib.rs`, `1.2.3`, `E0277`,
//!   `--force`
//! - scripts without spaces between words by pairs of characters
//!
//! In a text of another language that [`language`](super::language) recognises, its function words are left out, and
//! words are also stemmed in that language.
//!
//! A query of only function words has no terms and is left to vector search.

mod fold;
mod hash;
mod hasher;
mod known_words;
mod split;
mod stem;
mod stem_languages;
#[cfg(test)]
mod tests;

pub(crate) use fold::{fold, is_unspaced};
pub use hash::hash;
pub use hasher::TermHasher;

use super::language::Language;

/// The maximum length of a term in bytes. A longer term is cut and distinguished by a hash.
pub const MAX_TERM_BYTES: usize = 64;

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextTerm<'a> {
    /// The text that is compared.
    pub text: &'a str,
    /// The position in running words, counted from 0, stop words included.
    pub word: u32,
    /// True for a complete identifier in code syntax. A query with one means exactly that.
    pub identifier: bool,
}

/// Calls `take` with the terms of `text`, in order. A complete identifier follows its parts.
pub fn each_term(text: &str, take: impl FnMut(TextTerm<'_>)) {
    split::TermSplitter::new(take).text(text);
}

/// The same for a text in `language`; `None` is English. Words of another language come with the stems of both.
pub fn each_term_in(language: Option<Language>, text: &str, take: impl FnMut(TextTerm<'_>)) {
    split::TermSplitter::new(take).in_language(language).text(text);
}

/// The hashed terms of `text`, each with its word position.
pub fn terms(text: &str) -> Vec<(u64, u32)> {
    let mut terms = Vec::with_capacity(text.len() / 8);
    each_term(text, |term| terms.push((hash(term.text), term.word)));
    terms
}

/// True if a word is a stop word.
pub fn is_stop(word: &str) -> bool {
    let mut plain = String::new();
    fold(word, &mut plain);
    let plain = plain.to_lowercase().replace('\'', "");
    known_words::lookup(&plain) == Some(known_words::KnownWord::Stop)
}

/// A single lower-case word as the index stores it.
#[cfg(test)]
fn stemmed(word: &str) -> String {
    let mut all = Vec::new();
    each_term(word, |term| all.push(term.text.to_owned()));
    all.pop().unwrap_or_default()
}
