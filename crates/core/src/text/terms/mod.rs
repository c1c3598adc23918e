//! Text as the terms that a lexical search compares (STO-13, REC-01).
//!
//! - words in lower case, without accents, stemmed as English is; function words are left out
//! - identifiers whole and in their parts: `parse_token`, `parseToken`, `core/src/lib.rs`, `1.2.3`, `E0277`, `--force`
//! - scripts without spaces between words by pairs of characters
//!
//! A query of nothing but function words has no terms; it is left to the vectors.

mod fold;
mod hash;
mod known;
mod numbers;
mod split;
mod stem;
#[cfg(test)]
mod tests;

pub(crate) use fold::is_unspaced;
pub use hash::hash;
pub use numbers::Numbers;

/// The longest term in bytes. What is longer is cut, and told apart by a hash.
pub const MAX_TERM_BYTES: usize = 64;

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// What is compared.
    pub text: &'a str,
    /// At which running word of the text it stands, counted from 0, stop words included.
    pub word: u32,
    /// Whether it is the whole of something that is written as only code writes: a query that has it means just that.
    pub identifier: bool,
}

/// Calls `take` with the terms of `text`, in order; the whole of a name comes after its parts.
pub fn each_term(text: &str, take: impl FnMut(Term<'_>)) {
    split::Splitter::new(take).text(text);
}

/// The terms of `text` as numbers, each with the running word it stands at.
pub fn terms(text: &str) -> Vec<(u64, u32)> {
    let mut terms = Vec::with_capacity(text.len() / 8);
    each_term(text, |term| terms.push((hash(term.text), term.word)));
    terms
}

/// Whether a word says nothing about what a text is about.
pub fn is_stop(word: &str) -> bool {
    let mut plain = String::new();
    fold::fold(word, &mut plain);
    let plain = plain.to_lowercase().replace('\'', "");
    known::known(&plain) == Some(known::Known::Stop)
}

/// A single word in lower case as the index has it.
#[cfg(test)]
fn stemmed(word: &str) -> String {
    let mut all = Vec::new();
    each_term(word, |term| all.push(term.text.to_owned()));
    all.pop().unwrap_or_default()
}
