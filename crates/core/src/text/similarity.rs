//! Similarity of statements: equality, overlap and contradiction.

use std::collections::BTreeSet;

use crate::text::contradiction;
use crate::text::contradiction::ComparableStatement;
use crate::text::normalise::normalise;
use crate::text::specific_terms::specifics;
use crate::text::terms;

/// The minimum share of common terms of two equal statements.
const MIN_SAME_OVERLAP: f64 = 0.7;
/// Statements with fewer terms must be verbatim equal.
const MIN_FUZZY_TERMS: usize = 3;
/// The minimum overlap, relative to the shorter statement, of two statements about the same thing.
const MIN_RELATED_OVERLAP: f64 = 0.5;

/// A statement, analysed once for comparison with hundreds of others.
#[derive(Clone, Debug)]
pub struct AnalysedStatement {
    text: String,
    normal: String,
    terms: BTreeSet<u64>,
    specifics: BTreeSet<String>,
    /// The distinct terms in text order.
    order: Vec<u64>,
    sides: ComparableStatement,
    turns: bool,
    weighs: bool,
}

impl AnalysedStatement {
    /// Analyses a text for comparison.
    pub fn from_text(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            normal: normalise(text),
            terms: terms_of(text),
            specifics: specifics(text),
            order: in_order(text),
            sides: ComparableStatement::from_text(text),
            turns: contradiction::turns(text),
            weighs: contradiction::is_comparison(text),
        }
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The terms of the statement.
    pub(crate) fn terms(&self) -> &BTreeSet<u64> {
        &self.terms
    }

    /// The details that must have a source.
    pub(crate) fn specifics(&self) -> &BTreeSet<String> {
        &self.specifics
    }

    /// True if a claim keeps the meaning of its source: no negation is lost or added, and if either compares
    /// two things, their order is the same.
    pub(crate) fn preserves_sense_of(&self, source: &Self) -> bool {
        let before = |of: &Self| contradiction::before_negation(&of.text).map(terms_of).unwrap_or_default();
        let kept = match (self.turns, source.turns) {
            // `this, not that` means the same as `this instead of that`; `never this` does not.
            (true, false) => source.weighs && !before(self).is_disjoint(&source.terms),
            (false, true) => overlap(&self.terms, &before(source)) >= MIN_SAME_OVERLAP,
            _ => true,
        };
        kept && self.same_order(source)
    }

    /// True if both have their common terms in the same order: `pnpm instead of npm` is not
    /// `npm instead of pnpm`.
    fn same_order(&self, other: &Self) -> bool {
        let common = |ours: &Self, theirs: &Self| -> Vec<u64> {
            ours.order.iter().filter(|term| theirs.terms.contains(term)).copied().collect()
        };
        !(self.weighs || other.weighs) || common(self, other) == common(other, self)
    }

    /// True if both say the same: verbatim, or nearly so with the same specifics and without a contradiction
    /// (REF-06).
    pub fn is_same(&self, other: &Self) -> bool {
        if self.normal == other.normal {
            return true;
        }
        let (fewer, more) =
            (self.terms.len().min(other.terms.len()), self.terms.len().max(other.terms.len()));
        // The lengths alone distinguish most pairs.
        if fewer < MIN_FUZZY_TERMS || (fewer as f64) < MIN_SAME_OVERLAP * more as f64 {
            return false;
        }
        let both = self.terms.intersection(&other.terms).count() as f64;
        let either = self.terms.union(&other.terms).count() as f64;
        both / either >= MIN_SAME_OVERLAP
            && self.specifics == other.specifics
            && self.turns == other.turns
            && self.same_order(other)
            && !self.sides.contradicts(&other.sides)
    }

    /// True if two statements share any term.
    pub fn is_related_to(&self, other: &Self) -> bool {
        !self.terms.is_disjoint(&other.terms)
    }

    /// True if both contain numbers, and not the same ones.
    pub fn has_other_values(&self, other: &Self) -> bool {
        let numbers = |of: &Self| -> BTreeSet<String> {
            let words = of.text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'));
            let words = words.map(|word| word.trim_matches('.').to_lowercase());
            words.filter(|word| word.chars().any(|c| c.is_ascii_digit())).collect()
        };
        let (ours, theirs) = (numbers(self), numbers(other));
        !ours.is_empty() && !theirs.is_empty() && ours != theirs
    }

    /// True if both are equal in normal form.
    pub fn is_verbatim(&self, other: &Self) -> bool {
        self.normal == other.normal
    }

    /// True if two similar statements have no conflicting detail: no other name, number, negation, order or
    /// value, and no replaced word (STO-16).
    pub fn agrees_with(&self, other: &Self) -> bool {
        let (shorter, longer) =
            if self.terms.len() <= other.terms.len() { (self, other) } else { (other, self) };
        overlap(&shorter.terms, &longer.terms) >= MIN_RELATED_OVERLAP
            && self.specifics == other.specifics
            && self.turns == other.turns
            && self.same_order(other)
            && !self.sides.contradicts(&other.sides)
            && !self.sides.differs_by_substitution(&other.sides)
    }

    /// True if the statements contradict each other.
    pub fn contradicts(&self, other: &Self) -> bool {
        let (shorter, longer) =
            if self.terms.len() <= other.terms.len() { (self, other) } else { (other, self) };
        overlap(&shorter.terms, &longer.terms) >= MIN_RELATED_OVERLAP && self.sides.contradicts(&other.sides)
    }
}

fn in_order(text: &str) -> Vec<u64> {
    let mut order = Vec::new();
    for (term, _) in terms::terms(text) {
        if !order.contains(&term) {
            order.push(term);
        }
    }
    order
}

/// The set of terms of a text.
fn terms_of(text: &str) -> BTreeSet<u64> {
    terms::terms(text).into_iter().map(|(term, _)| term).collect()
}

/// The share of `terms` that is in `others`, from 0 to 1; 0 for an empty set.
pub(crate) fn overlap(terms: &BTreeSet<u64>, others: &BTreeSet<u64>) -> f64 {
    match terms.len() {
        0 => 0.0,
        all => terms.intersection(others).count() as f64 / all as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        let (one, other) = (AnalysedStatement::from_text(one), AnalysedStatement::from_text(other));
        assert_eq!(one.is_same(&other), other.is_same(&one));
        one.is_same(&other)
    }

    #[test]
    fn ref_06_the_same_in_nearly_the_same_words_is_the_same() {
        assert!(same(
            "Always run the integration tests before a merge",
            "always run integration tests before merges."
        ));
        assert!(same("**Use tabs**", "use tabs"));
        for (one, other) in [
            ("Use pnpm instead of npm in the workspace", "Use npm instead of pnpm in the workspace"),
            (
                "Sessions moved from Redis to SQLite last week",
                "Sessions moved from SQLite to Redis last week",
            ),
            (
                "Always run the integration tests before a merge",
                "Never run the integration tests before a merge",
            ),
            ("Service alpha1 lives in folder srv/alpha1", "Service alpha2 lives in folder srv/alpha2"),
            ("Use tabs", "Use spaces"),
            ("", "x"),
        ] {
            assert!(!same(one, other), "{one} / {other}");
        }
    }

    #[test]
    fn a_claim_keeps_the_sense_of_what_it_rests_on() {
        let keeps = |claim: &str, source: &str| {
            AnalysedStatement::from_text(claim).preserves_sense_of(&AnalysedStatement::from_text(source))
        };
        assert!(keeps("Use pnpm, not npm", "Use pnpm instead of npm"));
        assert!(keeps("Use pnpm", "Use pnpm, never npm"));
        assert!(keeps("Backups run at night", "The backups run at night"));
        assert!(!keeps("Use npm", "Never use npm"));
        assert!(!keeps("Use npm instead of pnpm", "Use pnpm instead of npm"));
        assert!(!keeps("Never use npm", "Use npm"));
        assert!(!keeps("Never use pnpm", "Use pnpm instead of npm"));
    }
}
