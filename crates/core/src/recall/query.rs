//! Parses a prompt into a query for the index.

use crate::text::clean::clean;
use crate::text::{language, terms};

/// The maximum number of bytes of a prompt to search for. From a longer prompt, such as a pasted log, both
/// ends are kept, because the request is at either end.
pub const MAX_QUERY_BYTES: usize = 16 * 1024;
/// The maximum number of terms to look up.
pub const MAX_TERMS: usize = 64;
/// The maximum number of bytes to embed, which is more than any model reads.
pub const MAX_EMBEDDED_BYTES: usize = 4 * 1024;

/// A term of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryTerm {
    /// The normalised term for comparison.
    pub text: String,
    /// The hash of the term.
    pub hash: u64,
    /// The word as the prompt spells it.
    pub word: String,
    /// True if the word is written as only code writes.
    pub identifier: bool,
}

/// A prompt, parsed for search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallQuery {
    /// The cleaned text to search for, cut to [`MAX_QUERY_BYTES`].
    pub text: String,
    /// The text to embed: the prompt or its rewrite.
    pub embedded: String,
    /// The distinct terms, in order.
    pub terms: Vec<QueryTerm>,
}

impl RecallQuery {
    /// Parses a prompt. `also` is a rewrite of it, if there is one, and adds its terms.
    pub fn new(prompt: &str, also: Option<&str>) -> Self {
        let text = ends_of(&clean(prompt), MAX_QUERY_BYTES);
        let language = language::guess(&text);
        let mut terms: Vec<QueryTerm> = Vec::new();
        for word in [Some(text.as_str()), also].into_iter().flatten().flat_map(str::split_whitespace) {
            let before = terms.len();
            terms::each_term_in(language, word, |term| {
                let hash = terms::hash(term.text);
                match terms.iter().position(|known| known.hash == hash) {
                    Some(place) => terms[place].identifier |= term.identifier,
                    None if terms.len() < MAX_TERMS * 4 => {
                        let (text, word) = (term.text.to_owned(), term.text.to_owned());
                        terms.push(QueryTerm { text, hash, word, identifier: term.identifier });
                    }
                    None => {}
                }
            });
            // A term is the stem of its word; the parts of an identifier are words of their own.
            if let [term] = &mut terms[before..] {
                term.word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            }
        }
        Self { embedded: ends_of(also.unwrap_or(&text), MAX_EMBEDDED_BYTES), text, terms }
    }

    /// Keeps only the rarest terms if there are too many, by the `rarity` of each hash.
    pub fn retain_rarest(&mut self, rarity: impl Fn(u64) -> f32) {
        if self.terms.len() <= MAX_TERMS {
            return;
        }
        let mut by_rarity: Vec<(usize, f32)> =
            self.terms.iter().enumerate().map(|(place, term)| (place, rarity(term.hash))).collect();
        by_rarity.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut kept: Vec<usize> = by_rarity.into_iter().take(MAX_TERMS).map(|(place, _)| place).collect();
        kept.sort_unstable();
        let mut place = 0;
        self.terms.retain(|_| {
            place += 1;
            kept.binary_search(&(place - 1)).is_ok()
        });
    }
}

/// The start and the end of a text that is too long.
fn ends_of(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let (mut first, mut last) = (most / 2, text.len() - most / 2);
    while !text.is_char_boundary(first) {
        first -= 1;
    }
    while !text.is_char_boundary(last) {
        last += 1;
    }
    format!("{}\n{}", &text[..first], &text[last..])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_term_counts_once_and_another_wording_adds_to_it() {
        let query = RecallQuery::new("the port, which port?", Some("port 5433 of parse_token"));
        let texts: Vec<&str> = query.terms.iter().map(|term| term.text.as_str()).collect();
        assert_eq!(texts.iter().filter(|text| **text == "port").count(), 1);
        assert!(texts.contains(&"5433"));
        assert!(query.terms.iter().any(|term| term.identifier && term.text.contains("parse")));
        assert_eq!(query.text, "the port, which port?");
    }

    #[test]
    fn of_too_many_terms_the_rarest_stay_in_order() {
        let prompt: String = (0..200).map(|n| format!("word{n} ")).collect();
        let mut query = RecallQuery::new(&prompt, None);
        let rare = query.terms[150].hash;
        query.retain_rarest(|hash| if hash == rare { 9.0 } else { 1.0 });
        assert_eq!(query.terms.len(), MAX_TERMS);
        assert_eq!(query.terms[0].text, "word0");
        assert!(query.terms.iter().any(|term| term.hash == rare));
    }

    proptest! {
        #[test]
        fn any_prompt_is_bounded(prompt in "\\PC{0,300}", times in 1_usize..400) {
            let query = RecallQuery::new(&prompt.repeat(times), None);
            prop_assert!(query.text.len() <= MAX_QUERY_BYTES + 1 && query.embedded.len() <= MAX_EMBEDDED_BYTES + 1);
        }
    }
}
