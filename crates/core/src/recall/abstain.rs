//! Whether recall should stay silent (B-06).
//!
//! A threshold on the cosine alone lets a prompt pass that only shares the project's vocabulary, so the evidence for an
//! answer is a sum of a few things, all of them known once the hits are ranked, however they were ranked:
//!
//! - the cosine of the best hit, and how far it stands out: where the tenth best is as near, nearness says little
//! - the words that prompt and hit share, each as much as it says: rare ones more than common ones
//! - against it: words outside everyday language that the hit lacks, and names written as in code that it lacks
//! - against it: how much the prompt looks like what everybody types and no memory answers ([`everyday`](super::everyday))
//! - for or against it: what a model says that reads the prompt and the hits together; only for it where a hit holds most of
//!   what the prompt says. That is costly, so it is only asked where it can turn the balance ([`is_open`])
//!
//! The best of many is better by chance, so a larger store has to offer more. `eval/README.md` tells what the rule
//! was calibrated on and what it costs.

use serde::{Deserialize, Serialize};

/// How much of the tenth best cosine is taken away.
const CROWD: f64 = 0.73;
/// The least tenth best cosine that is assumed. In a handful of memories there is no tenth, or it lies far away whatever was
/// asked, and then everything would stand out.
const FEW: f64 = 0.1;
/// What a shared word of full rarity adds.
const SHARED: f64 = 0.13;
/// Shared words beyond this sum of rarities add nothing: a long pasted log shares something with everything.
const SHARED_CAP: f64 = 7.5;
/// A commonplace of programmers' prompts counts by this much of its rarity.
const COMMONPLACE: f64 = 0.25;
/// What a foreign word takes away.
const FOREIGN: f64 = 0.066;
/// Foreign words beyond this many take nothing more: a pasted log is full of them.
const FOREIGN_CAP: u32 = 2;
/// What is taken away when no name written as in code is in the hit; less in proportion when some are.
const NAMES: f64 = 0.02;
/// What it takes away that a prompt clearly looks like an everyday one.
const EVERYDAY: f64 = 0.38;
/// The margins between which that counts: that a prompt is about somebody's work makes no hit a good one.
const DOUBT: (f64, f64) = (-0.19, 0.9);
/// The margin that is assumed where it is not known: the vectors are of another model.
const USUAL: f64 = 0.0;
/// What it adds for each e-fold that the odds of a hit being of use, by reading it, are above [`UNREAD`], and takes away
/// below.
const READING: f64 = 0.13;
/// The log odds above which a reading says nothing more.
const OF_USE: f64 = 0.0;
/// The log odds below which it takes nothing more. What is near enough all the same need not be read.
const USELESS: f64 = -4.3;
/// Where a hit holds so much of what the prompt says, a reading takes nothing away: it hardly ever would, so it need not be asked.
const COVERED: f64 = 0.7;
/// The log odds that are assumed where nothing was read.
const UNREAD: f64 = -2.247;
/// For what is no nearer than this, shared words counted, a reading does not speak: in a handful of memories something has to be
/// the nearest, and a reader finds most rules of work a little useful for any work.
const FARTHEST: f64 = 0.12;
/// What is asked for in a store of a hundred.
const ENOUGH: f64 = 0.158;
/// How much more is asked for when the store is e times larger.
const PER_SIZE: f64 = 0.04;
/// Below this the store's size makes no difference: in a handful of memories something always stands out.
const SMALLEST: f64 = 30.0;

/// A word at which a term is as rare as one that the vocabulary does not know.
const FOREIGN_RARITY: f64 = 0.98;
/// The first ids of a BERT vocabulary are no words: special marks, unused places, characters.
const FIRST_WORD: f64 = 1996.0;
/// The vocabulary's size, from which its scale of rarity is made.
const LAST_WORD: f64 = 30_496.0;
/// Ids closer together than this are told apart little.
const STEP: f64 = 50.0;

/// One distinct term of the prompt, stop words left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PromptTerm {
    /// How rare the word is in general, from 0 (said all the time) to 1; see [`rarity`]. The store's own counts are
    /// no measure of that: in a small one every word is rare.
    pub rarity: f64,
    /// Whether every programmer says it; see [`is_commonplace`](crate::text::domain_stopwords::is_commonplace).
    pub commonplace: bool,
    /// Whether it is a name written as only code writes.
    pub identifier: bool,
}

impl PromptTerm {
    /// What it says that a hit holds this term.
    fn weight(&self) -> f64 {
        if self.commonplace { COMMONPLACE * self.rarity } else { self.rarity }
    }
}

/// What speaks for and against the hits of one prompt.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The highest cosine among the hits that would be shown.
    pub best_cosine: f64,
    /// The tenth highest cosine in the store, or what is assumed at least when it holds few.
    pub tenth_cosine: f64,
    /// The greatest sum of rarities, commonplaces counted less, of the prompt's terms that one of the hits holds.
    pub shared_rarity: f64,
    /// The greatest share of what the prompt's terms weigh, so counted, that one of the hits holds; 0 if they weigh nothing.
    pub covered: f64,
    /// How many of the prompt's terms are foreign to everyday language and not in the hit that speaks best.
    pub foreign_words: u32,
    /// The share of the prompt's identifiers that the hit with most of them lacks; 0 if it has none.
    pub missing_names: f64,
    /// How much the prompt looks like an everyday one, where that is known: 1 clearly, -1 clearly not.
    pub everyday: Option<f64>,
    /// The greatest log odds, by reading prompt and hit together, that a hit is of use; none if nothing was read.
    pub reading: Option<f64>,
    /// How many memories could have been found.
    pub store_size: usize,
}

/// Why recall speaks or stays silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The evidence suffices.
    Relevant,
    /// There was nothing to choose from.
    NoHits,
    /// Nothing in the store is near enough.
    TooFar,
    /// Near enough, but the prompt is about something that the hits do not hold.
    NotCovered,
    /// It would do, if the prompt were not of a kind that everybody types.
    Everyday,
    /// It would do, but read together with the prompt none of the hits is of use.
    NoUse,
}

/// What was decided, with the numbers for `recall --explain`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Decision {
    /// Why.
    pub reason: Reason,
    /// The evidence as one number.
    pub strength: f64,
    /// What it had to reach.
    pub needed: f64,
    /// What that was made of; none if there was nothing to choose from.
    pub evidence: Option<Evidence>,
}

impl Reason {
    /// What a person is told.
    pub fn explain(self) -> &'static str {
        match self {
            Self::Relevant => "The best matches answer the question.",
            Self::NoHits => "Nothing was found.",
            Self::TooFar => "No memory is about this.",
            Self::NotCovered => "Some memories are close, but none covers what you asked about.",
            Self::Everyday => "This is a common request, and no memory is specific enough to it.",
            Self::NoUse => "Some memories touch the topic, but none answers it.",
        }
    }
}

impl Decision {
    /// Whether nothing should be shown.
    pub fn silent(&self) -> bool {
        self.reason != Reason::Relevant
    }
}

/// How rare a word is in general, from its id in the embedder's WordPiece vocabulary, which is ordered by frequency.
/// A word that has no id of its own, being made of several pieces, is as rare as can be.
pub fn rarity(vocabulary_id: Option<u32>) -> f64 {
    let scale = |id: f64| ((id - FIRST_WORD).max(1.0) / STEP + 1.0).ln();
    vocabulary_id.map_or(1.0, |id| (scale(f64::from(id)) / scale(LAST_WORD)).clamp(0.0, 1.0))
}

/// Puts together what the terms say; what is known of everyday prompts is not part of it. `held` has for each hit that would be shown, in the order of `cosines`, which
/// of `terms` it holds; `tenth_cosine`, which is there where there are so many, and `store_size` are of the whole store.
pub fn evidence(
    terms: &[PromptTerm],
    held: &[Vec<bool>],
    cosines: &[f64],
    tenth_cosine: Option<f64>,
    store_size: usize,
) -> Evidence {
    let identifiers = count(terms.iter().map(|term| term.identifier));
    let all: f64 = terms.iter().map(PromptTerm::weight).sum();
    let tenth_cosine = tenth_cosine.unwrap_or(FEW).max(FEW);
    let mut found =
        Evidence { best_cosine: f64::NEG_INFINITY, tenth_cosine, store_size, ..Evidence::default() };
    found.missing_names = if identifiers == 0 { 0.0 } else { 1.0 };
    found.foreign_words = count(terms.iter().map(|term| term.rarity >= FOREIGN_RARITY));
    let mut spoken = f64::NEG_INFINITY;
    for (held, &cosine) in held.iter().zip(cosines) {
        let of_hit = || terms.iter().zip(held);
        let shared: f64 = of_hit().filter(|&(_, &held)| held).map(|(term, _)| term.weight()).sum();
        let names = count(of_hit().map(|(term, &held)| held && term.identifier));
        found.best_cosine = found.best_cosine.max(cosine);
        found.shared_rarity = found.shared_rarity.max(shared);
        found.covered = found.covered.max(if all > 0.0 { shared / all } else { 0.0 });
        if identifiers > 0 {
            found.missing_names = found.missing_names.min(1.0 - f64::from(names) / f64::from(identifiers));
        }
        let speaks = cosine + SHARED * shared.min(SHARED_CAP);
        if speaks > spoken {
            spoken = speaks;
            found.foreign_words = count(of_hit().map(|(term, &held)| !held && term.rarity >= FOREIGN_RARITY));
        }
    }
    found
}

/// Decides. `None` is a store or a filter that left no hits.
pub fn decide(evidence: Option<&Evidence>) -> Decision {
    let Some(found) = evidence else {
        return Decision { reason: Reason::NoHits, strength: 0.0, needed: ENOUGH, evidence: None };
    };
    let near = found.best_cosine - CROWD * found.tenth_cosine;
    let shared = SHARED * found.shared_rarity.min(SHARED_CAP);
    let against = FOREIGN * f64::from(found.foreign_words.min(FOREIGN_CAP)) + NAMES * found.missing_names;
    #[expect(clippy::cast_precision_loss, reason = "a store's size to a few digits is enough")]
    let size = (found.store_size as f64).max(SMALLEST);
    let needed = ENOUGH + PER_SIZE * (size / 100.0).ln();
    let usual = near + shared - EVERYDAY * USUAL;
    let everyday = EVERYDAY * (found.everyday.unwrap_or(USUAL).clamp(DOUBT.0, DOUBT.1) - USUAL);
    let least = if found.covered < COVERED { USELESS } else { UNREAD };
    let read = READING * (found.reading.unwrap_or(UNREAD).clamp(least, OF_USE) - UNREAD);
    let is_far = found.best_cosine + shared < FARTHEST;
    let strength = usual - against - everyday + if is_far { read.min(0.0) } else { read };
    let reason = if strength >= needed {
        Reason::Relevant
    } else if usual - against - everyday >= needed {
        Reason::NoUse
    } else if usual - against >= needed {
        Reason::Everyday
    } else if usual >= needed {
        Reason::NotCovered
    } else {
        Reason::TooFar
    };
    Decision { reason, strength, needed, evidence: Some(*found) }
}

/// Whether a reading that is better than `least` would end the silence that one no better than that means. What was read
/// already is no matter.
pub fn is_open(found: &Evidence, least: f64) -> bool {
    let silent = |reading| decide(Some(&Evidence { reading: Some(reading), ..*found })).silent();
    silent(least) && !silent(OF_USE)
}

fn count(flags: impl Iterator<Item = bool>) -> u32 {
    flags.map(u32::from).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn term(rarity: f64) -> PromptTerm {
        PromptTerm { rarity, commonplace: false, identifier: false }
    }

    fn name() -> PromptTerm {
        PromptTerm { rarity: 1.0, commonplace: false, identifier: true }
    }

    fn asked(terms: &[PromptTerm], held: &[bool], cosine: f64) -> Decision {
        decide(Some(&evidence(terms, &[held.to_vec()], &[cosine], Some(0.2), 100)))
    }

    #[test]
    fn b_06_small_talk_is_met_with_silence() {
        // "thanks!" has no terms, and is near to nothing.
        let decision = asked(&[], &[], 0.2);
        assert_eq!(decision.reason, Reason::TooFar);
        assert!(decision.silent());
    }

    #[test]
    fn b_06_nothing_found_is_silence() {
        assert_eq!(decide(None).reason, Reason::NoHits);
        assert!(decide(None).silent());
    }

    #[test]
    fn b_06_a_paraphrase_needs_no_shared_word() {
        let plain = [term(0.4), term(0.5), term(0.6), term(0.5)];
        assert_eq!(asked(&plain, &[false; 4], 0.4).reason, Reason::Relevant);
        assert_eq!(asked(&plain, &[false; 4], 0.2).reason, Reason::TooFar);
    }

    #[test]
    fn b_06_the_project_s_words_do_not_make_up_for_the_subject() {
        // "add support for Klarna as a payment method": the hit is about payments, not about Klarna.
        let prompt = [term(0.3), term(0.4), name(), term(0.5)];
        let without = asked(&prompt, &[false, false, false, true], 0.31);
        assert_eq!(without.reason, Reason::NotCovered);
        assert_eq!(asked(&prompt, &[false, false, true, true], 0.31).reason, Reason::Relevant);
    }

    #[test]
    fn b_06_a_generic_request_shares_only_commonplaces() {
        // "write a function that sorts a list"
        let said = |commonplace| PromptTerm { commonplace, ..term(0.6) };
        assert_eq!(asked(&[said(true); 3], &[true; 3], 0.2).reason, Reason::TooFar);
        assert_eq!(asked(&[said(false); 3], &[true; 3], 0.2).reason, Reason::Relevant);
    }

    #[test]
    fn b_06_in_a_handful_nothing_is_shown_for_want_of_something_better() {
        // "please fix the failing login test", where all that is known is a port and how commits are written.
        let few = |best_cosine, shared_rarity, reading| {
            let found = evidence(&[], &[vec![]], &[best_cosine], Some(-0.1), 10);
            decide(Some(&Evidence { shared_rarity, reading: Some(reading), ..found })).reason
        };
        assert_eq!(few(FARTHEST - 0.04, 0.0, OF_USE), Reason::TooFar);
        assert_eq!(few(FARTHEST - 0.04, 1.0, OF_USE), Reason::Relevant);
        assert_eq!(few(FARTHEST, 0.0, OF_USE), Reason::Relevant);
        assert_eq!(few(0.14, 0.0, UNREAD), Reason::TooFar, "that the others are further away is no merit");
    }

    #[test]
    fn b_06_an_identifier_found_speaks_at_a_low_cosine() {
        assert_eq!(asked(&[name()], &[true], 0.25).reason, Reason::Relevant);
        assert_eq!(asked(&[name()], &[false], 0.25).reason, Reason::TooFar);
    }

    #[test]
    fn b_06_what_stands_out_says_more_than_what_is_near_to_everything() {
        let found = |tenth_cosine| {
            let found = Evidence { best_cosine: 0.3, tenth_cosine, store_size: 100, ..Evidence::default() };
            decide(Some(&found)).reason
        };
        assert_eq!((found(0.1), found(0.29)), (Reason::Relevant, Reason::TooFar));
    }

    #[test]
    fn b_06_a_larger_store_has_to_offer_more() {
        let found =
            |store_size| Evidence { best_cosine: 0.34, tenth_cosine: 0.2, store_size, ..Evidence::default() };
        assert!(!decide(Some(&found(100))).silent());
        assert!(decide(Some(&found(1000))).silent());
        assert_eq!(decide(Some(&found(0))).strength, decide(Some(&found(20))).strength);
        assert_eq!(
            decide(Some(&found(0))).needed,
            decide(Some(&found(20))).needed,
            "and a tiny one not endlessly less"
        );
    }

    #[test]
    fn b_06_what_everybody_types_is_met_with_silence_unless_a_memory_is_close() {
        let found = |best_cosine, everyday| {
            let found =
                Evidence { best_cosine, tenth_cosine: 0.2, everyday, store_size: 100, ..Evidence::default() };
            decide(Some(&found)).reason
        };
        assert_eq!(found(0.35, None), Reason::Relevant, "where it is not known, it counts as usual");
        assert_eq!(found(0.35, Some(-4.0)), Reason::Relevant);
        assert_eq!(found(0.35, Some(3.0)), Reason::Everyday);
        assert_eq!(found(0.65, Some(60.0)), Reason::Relevant, "nothing is as certain as that");
        assert_eq!(found(0.2, Some(-60.0)), Reason::TooFar);
    }

    #[test]
    fn b_06_what_was_read_turns_the_balance_only_where_it_is_open() {
        let found = |best_cosine, reading| Evidence {
            best_cosine,
            tenth_cosine: 0.2,
            reading,
            store_size: 100,
            ..Evidence::default()
        };
        let reason = |best_cosine, reading| decide(Some(&found(best_cosine, reading))).reason;
        let is_open = |best_cosine| is_open(&found(best_cosine, None), f64::NEG_INFINITY);
        assert!(is_open(0.35));
        assert_eq!(
            reason(0.35, None),
            Reason::Relevant,
            "where nothing was read, nothing is held against it"
        );
        assert_eq!(reason(0.35, Some(-5.0)), Reason::NoUse);
        assert_eq!(reason(0.35, Some(3.0)), Reason::Relevant);
        assert_eq!(reason(0.2, None), Reason::TooFar);
        assert_eq!(reason(0.2, Some(3.0)), Reason::Relevant, "it sees what vectors do not");
        assert_eq!(reason(-0.2, Some(99.0)), Reason::TooFar, "but does not make up for everything");
        assert!(is_open(0.2) && !is_open(-0.2));
        assert!(!is_open(1.5), "so near that none hurts");
        assert_eq!(reason(1.5, Some(-99.0)), Reason::Relevant);
    }

    #[test]
    fn b_06_nothing_is_held_against_a_hit_that_holds_what_the_prompt_says() {
        let found = |best_cosine, covered, reading| Evidence {
            best_cosine,
            tenth_cosine: 0.2,
            covered,
            reading,
            store_size: 100,
            ..Evidence::default()
        };
        let silent = |found: Evidence| decide(Some(&found)).silent();
        assert!(silent(found(0.35, COVERED - 0.01, Some(-5.0))));
        assert!(!silent(found(0.35, COVERED, Some(-5.0))));
        let is_open = |best_cosine, covered| is_open(&found(best_cosine, covered, None), f64::NEG_INFINITY);
        assert!(is_open(0.35, COVERED - 0.01) && !is_open(0.35, COVERED), "so it need not be read");
        assert!(is_open(0.2, COVERED), "but a reading may speak for it");
        assert!(!silent(found(0.2, COVERED, Some(3.0))) && silent(found(0.2, COVERED, None)));
    }

    #[test]
    fn the_evidence_is_of_the_hits_that_are_shown() {
        let terms = [term(0.5), name(), name(), term(1.0)];
        let held = [vec![true, false, false, false], vec![true, true, false, false]];
        let found = evidence(&terms, &held, &[0.5, 0.3], None, 7);
        assert!((found.best_cosine - 0.5).abs() < 1e-9);
        assert!((found.tenth_cosine - FEW).abs() < 1e-9, "there is no tenth");
        let tenth = |cosine| evidence(&terms, &held, &[0.5, 0.3], Some(cosine), 12).tenth_cosine;
        assert!((tenth(-0.1) - FEW).abs() < 1e-9, "in a handful it says nothing that it is far away");
        assert!((tenth(0.2) - 0.2).abs() < 1e-9);
        assert!((found.shared_rarity - 1.5).abs() < 1e-9);
        assert!((found.covered - 1.5 / 3.5).abs() < 1e-9);
        assert!((found.missing_names - 0.5).abs() < 1e-9);
        // The first speaks best (0.5 + 0.13 x 0.5 against 0.3 + 0.13 x 1.5), and lacks all three.
        assert_eq!(found.foreign_words, 3);
        assert_eq!(found.store_size, 7);
    }

    #[test]
    fn words_are_the_rarer_the_later_they_stand_in_the_vocabulary() {
        assert!(rarity(Some(0)).abs() < 0.01);
        assert!((rarity(Some(30_496)) - 1.0).abs() < 1e-9);
        assert!((rarity(None) - 1.0).abs() < 1e-9);
        let ids = [1996, 2050, 2500, 5000, 10_000, 20_000, 30_000];
        assert!(ids.windows(2).all(|pair| rarity(Some(pair[0])) < rarity(Some(pair[1]))));
    }

    proptest! {
        /// More of what speaks for an answer never silences it.
        #[test]
        fn b_06_more_evidence_never_silences(
            cosine in -1.0..1.0f64, more in 0.0..0.5f64, tenth in -1.0..1.0f64, shared in 0.0..9.0f64, covered in 0.0..1.0f64,
            foreign in 0..9u32, missing in 0.0..1.0f64, everyday in -9.0..9.0f64, store_size in 0..2_000_000usize,
            reading in -9.0..9.0f64,
        ) {
            let found = Evidence {
                best_cosine: cosine, tenth_cosine: tenth, shared_rarity: shared, covered,
                foreign_words: foreign, missing_names: missing, everyday: Some(everyday), store_size,
                reading: Some(reading),
            };
            let better = [
                Evidence { best_cosine: cosine + more, ..found },
                Evidence { shared_rarity: shared + more, ..found },
                Evidence { covered: covered + more, ..found },
                Evidence { foreign_words: foreign / 2, ..found },
                Evidence { missing_names: missing / 2.0, ..found },
                Evidence { everyday: Some(everyday - more), ..found },
                Evidence { reading: Some(reading + more), ..found },
                Evidence { store_size: store_size / 2, ..found },
            ];
            if !decide(Some(&found)).silent() {
                for better in better {
                    prop_assert!(!decide(Some(&better)).silent(), "{better:?}");
                }
            }
        }

        /// Where the balance is not open, whatever would be read leaves it as it is.
        #[test]
        fn b_06_what_is_settled_stays_settled(
            best_cosine in -1.0..1.0f64, tenth_cosine in -1.0..1.0f64, covered in 0.0..1.0f64, everyday in -9.0..9.0f64,
            least in -9.0..9.0f64, more in 0.0..20.0f64,
        ) {
            let found = Evidence {
                best_cosine, tenth_cosine, covered, everyday: Some(everyday), store_size: 100, ..Evidence::default()
            };
            let silent = |reading| decide(Some(&Evidence { reading, ..found })).silent();
            if !is_open(&found, least) {
                prop_assert_eq!(silent(Some(least)), silent(Some(least + more)));
            }
            if !is_open(&found, f64::NEG_INFINITY) {
                prop_assert_eq!(silent(None), silent(Some(least)));
            }
        }
    }
}
