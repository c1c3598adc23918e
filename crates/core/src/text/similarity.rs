//! When two statements say the same, and how much of one is in another.

use std::collections::BTreeSet;

use crate::text::contradiction;
use crate::text::contradiction::Sides;
use crate::text::normal::normalised;
use crate::text::specifics::specifics;
use crate::text::terms;

/// Two statements that share this much of all their terms say the same.
const SAME: f64 = 0.7;
/// Statements of fewer terms have to be the same word for word.
const FEWEST_TERMS: usize = 3;
/// Statements that share less than this of the shorter one are not about the same thing.
const RELATED: f64 = 0.5;

/// A statement, taken apart once: hundreds of them are held against each other.
#[derive(Clone, Debug)]
pub struct Statement {
    text: String,
    normal: String,
    terms: BTreeSet<u64>,
    specifics: BTreeSet<String>,
    /// The terms as they come, each once.
    order: Vec<u64>,
    sides: Sides,
    turns: bool,
    weighs: bool,
}

impl Statement {
    /// Takes a text apart.
    pub fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            normal: normalised(text),
            terms: terms_of(text),
            specifics: specifics(text),
            order: in_order(text),
            sides: Sides::of(text),
            turns: contradiction::turns(text),
            weighs: contradiction::weighs(text),
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

    /// Whether a claim of this has the sense of what it rests on: no negation is lost or added, and where one thing is set
    /// against another, both come in the same order.
    pub(crate) fn keeps_sense_of(&self, source: &Self) -> bool {
        let before = |of: &Self| contradiction::before_turning(&of.text).map(terms_of).unwrap_or_default();
        let kept = match (self.turns, source.turns) {
            // `this, not that` says `this instead of that`; `never this` does not.
            (true, false) => source.weighs && !before(self).is_disjoint(&source.terms),
            (false, true) => share(&self.terms, &before(source)) >= SAME,
            _ => true,
        };
        kept && self.same_order(source)
    }

    /// `pnpm instead of npm` is not `npm instead of pnpm`.
    fn same_order(&self, other: &Self) -> bool {
        let common = |ours: &Self, theirs: &Self| -> Vec<u64> {
            ours.order.iter().filter(|term| theirs.terms.contains(term)).copied().collect()
        };
        !(self.weighs || other.weighs) || common(self, other) == common(other, self)
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
            && self.same_order(other)
            && !self.sides.contradict(&other.sides)
    }

    /// Whether two statements share anything that they could be about.
    pub fn is_about_the_same(&self, other: &Self) -> bool {
        !self.terms.is_disjoint(&other.terms)
    }

    /// Whether both name a number, and not the same ones.
    pub fn has_other_values(&self, other: &Self) -> bool {
        let numbers = |of: &Self| -> BTreeSet<String> {
            let words = of.text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-'));
            let words = words.map(|word| word.trim_matches('.').to_lowercase());
            words.filter(|word| word.chars().any(|c| c.is_ascii_digit())).collect()
        };
        let (ours, theirs) = (numbers(self), numbers(other));
        !ours.is_empty() && !theirs.is_empty() && ours != theirs
    }

    /// Whether both say the same word for word.
    pub fn is_verbatim(&self, other: &Self) -> bool {
        self.normal == other.normal
    }

    /// Whether nothing in two statements that are alike sets them apart: no name, number, negation, order or value, and no
    /// word that stands in the place of another (STO-16).
    pub fn agrees(&self, other: &Self) -> bool {
        let (shorter, longer) =
            if self.terms.len() <= other.terms.len() { (self, other) } else { (other, self) };
        share(&shorter.terms, &longer.terms) >= RELATED
            && self.specifics == other.specifics
            && self.turns == other.turns
            && self.same_order(other)
            && !self.sides.contradict(&other.sides)
            && !self.sides.swaps(&other.sides)
    }

    /// Whether both cannot hold.
    pub fn contradicts(&self, other: &Self) -> bool {
        let (shorter, longer) =
            if self.terms.len() <= other.terms.len() { (self, other) } else { (other, self) };
        share(&shorter.terms, &longer.terms) >= RELATED && self.sides.contradict(&other.sides)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        let (one, other) = (Statement::of(one), Statement::of(other));
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
        let keeps = |claim: &str, source: &str| Statement::of(claim).keeps_sense_of(&Statement::of(source));
        assert!(keeps("Use pnpm, not npm", "Use pnpm instead of npm"));
        assert!(keeps("Use pnpm", "Use pnpm, never npm"));
        assert!(keeps("Backups run at night", "The backups run at night"));
        assert!(!keeps("Use npm", "Never use npm"));
        assert!(!keeps("Use npm instead of pnpm", "Use pnpm instead of npm"));
        assert!(!keeps("Never use npm", "Use npm"));
        assert!(!keeps("Never use pnpm", "Use pnpm instead of npm"));
    }
}
