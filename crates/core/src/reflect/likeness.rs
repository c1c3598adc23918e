//! When two statements say the same, and how much of one is in another.

use std::collections::BTreeSet;

use super::conflict;
use super::specifics::specifics;
use crate::recall::terms;
use crate::text::normal::normalised;

/// Two statements that share this much of all their terms say the same.
const SAME: f64 = 0.7;
/// Statements of fewer terms have to be the same word for word.
const FEWEST_TERMS: usize = 3;
/// Statements that share less than this of the shorter one are not about the same thing.
const RELATED: f64 = 0.3;

/// A statement, taken apart once: hundreds of them are held against each other.
#[derive(Clone, Debug)]
pub struct Statement {
    text: String,
    normal: String,
    terms: BTreeSet<u64>,
    specifics: BTreeSet<String>,
    turns: bool,
}

impl Statement {
    /// Takes a text apart.
    pub fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            normal: normalised(text),
            terms: terms_of(text),
            specifics: specifics(text),
            turns: conflict::turns(text),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it is about.
    pub(crate) fn terms(&self) -> &BTreeSet<u64> {
        &self.terms
    }

    /// What in it must not be made up.
    pub(crate) fn specifics(&self) -> &BTreeSet<String> {
        &self.specifics
    }

    /// Whether it says that something is not, or must not be.
    pub(crate) fn turns(&self) -> bool {
        self.turns
    }

    /// Whether both say the same: word for word, or nearly so with the same specifics and without contradicting each
    /// other (REF-06).
    pub fn is_same(&self, other: &Self) -> bool {
        if self.normal == other.normal {
            return true;
        }
        let (fewer, more) =
            (self.terms.len().min(other.terms.len()), self.terms.len().max(other.terms.len()));
        // Most pairs are told apart by their length alone.
        if fewer < FEWEST_TERMS || (fewer as f64) < SAME * more as f64 {
            return false;
        }
        let both = self.terms.intersection(&other.terms).count() as f64;
        let either = self.terms.union(&other.terms).count() as f64;
        both / either >= SAME
            && self.specifics == other.specifics
            && self.turns == other.turns
            && !conflict::contradict(&self.text, &other.text)
    }

    /// Whether both cannot hold.
    pub fn contradicts(&self, other: &Self) -> bool {
        let (shorter, longer) =
            if self.terms.len() <= other.terms.len() { (self, other) } else { (other, self) };
        share(&shorter.terms, &longer.terms) >= RELATED && conflict::contradict(&self.text, &other.text)
    }
}

/// What a text is about.
fn terms_of(text: &str) -> BTreeSet<u64> {
    terms::terms(text).into_iter().map(|(term, _)| term).collect()
}

/// How much of `terms` is in `others`, from 0 to 1. Of nothing, nothing is.
pub(crate) fn share(terms: &BTreeSet<u64>, others: &BTreeSet<u64>) -> f64 {
    match terms.len() {
        0 => 0.0,
        all => terms.intersection(others).count() as f64 / all as f64,
    }
}
