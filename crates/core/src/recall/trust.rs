//! The trust check of the best hits (REC-06): it finds hits that contradict each other and hits with too
//! little support. Every decision has a name and is counted, so no hit vanishes silently.

use std::collections::BTreeSet;

use serde::Serialize;

use super::document::Document;
use crate::base::provenance::Origin;
use crate::text::word_sets::WordSet;
use crate::vault::entry::Confidence;

/// The factor for a hit that a better supported one contradicts.
const CONTRADICTED_FACTOR: f32 = 0.7;
/// The minimum share of the best score for a guess that only tool output supports.
const MIN_GUESS_SCORE_SHARE: f32 = 0.75;

/// The reason why a hit was demoted or dropped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
pub enum TrustDoubt {
    /// Another hit contradicts it and is better supported or newer.
    Contradicted {
        /// The id of the other hit.
        by: String,
    },
    /// Only one tool output supports it, and its score is far below the best.
    Guess,
    /// It is marked as outdated.
    Stale,
}

/// A hit as input to the trust check.
#[derive(Clone, Debug)]
pub struct TrustCandidate<'a> {
    /// The document of the hit.
    pub document: &'a Document,
    /// The score before the check.
    pub score: f32,
}

/// The verdict of the trust check on one hit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrustVerdict {
    /// The doubts about it; empty for most hits.
    pub doubts: Vec<TrustDoubt>,
    /// True if it is dropped.
    pub dropped: bool,
    /// The factor for its score.
    pub factor: f32,
}

/// Checks the hits, best first. `asked` are the terms of the query: a hit with a number from the query is not
/// contradicted by a hit with another number.
pub fn check_trust(candidates: &[TrustCandidate<'_>], asked: &BTreeSet<u64>) -> Vec<TrustVerdict> {
    let best = candidates.iter().map(|candidate| candidate.score).fold(0.0, f32::max);
    let words: Vec<WordSet> =
        candidates.iter().map(|candidate| WordSet::from_text(&candidate.document.text)).collect();
    let mut verdicts: Vec<TrustVerdict> = candidates
        .iter()
        .map(|TrustCandidate { document, score }| {
            let mut verdict = TrustVerdict { factor: 1.0, ..TrustVerdict::default() };
            let is_guess = !document.reviewed
                && document.origin == Origin::Tool
                && document.confidence == Some(Confidence::Low);
            if is_guess && *score < best * MIN_GUESS_SCORE_SHARE {
                verdict.doubts.push(TrustDoubt::Guess);
                verdict.dropped = true;
            }
            if document.stale {
                verdict.doubts.push(TrustDoubt::Stale);
            }
            verdict
        })
        .collect();
    for a in 0..candidates.len() {
        for b in a + 1..candidates.len() {
            if !words[a].contradicts(&words[b]) {
                continue;
            }
            let (loser, winner) =
                if stands_above(candidates[a].document, candidates[b].document) { (b, a) } else { (a, b) };
            if !words[loser].telling.is_disjoint(asked) {
                continue;
            }
            let (loses, wins) = (candidates[loser].document, candidates[winner].document);
            verdicts[loser].doubts.push(TrustDoubt::Contradicted { by: wins.id.clone() });
            verdicts[loser].factor *= CONTRADICTED_FACTOR;
            verdicts[loser].dropped |= !loses.reviewed && loses.origin == Origin::Tool && wins.reviewed;
        }
    }
    verdicts
}

/// True if `a` takes precedence over `b`: reviewed before unreviewed, then newer, then better ranked.
fn stands_above(a: &Document, b: &Document) -> bool {
    match (a.reviewed, b.reviewed) {
        (true, false) => true,
        (false, true) => false,
        _ => a.created >= b.created,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::document::DocumentSource;

    fn document(id: &str, text: &str, reviewed: bool, day: &str) -> Document {
        Document {
            id: id.into(),
            title: text.into(),
            created: crate::base::time::parse(day),
            origin: if reviewed { Origin::User } else { Origin::Tool },
            reviewed,
            ..Document::unannotated(DocumentSource::Entry, format!("{id}.md"), text)
        }
    }

    fn judged(documents: &[Document]) -> Vec<TrustVerdict> {
        let candidates: Vec<_> =
            documents.iter().map(|document| TrustCandidate { document, score: 1.0 }).collect();
        check_trust(&candidates, &BTreeSet::new())
    }

    #[test]
    fn rec_06_of_two_that_contradict_each_other_the_newer_stays_above() {
        let old = document("old", "Staging Postgres listens on port 5432.", true, "2026-01-01");
        let new = document("new", "Staging Postgres listens on port 5433.", true, "2026-02-01");
        for order in [[old.clone(), new.clone()], [new, old]] {
            let verdicts = judged(&order);
            let at = order.iter().position(|document| document.id == "old").unwrap();
            assert_eq!(verdicts[at].doubts, [TrustDoubt::Contradicted { by: "new".into() }]);
            assert!(verdicts[at].factor < 1.0 && !verdicts[at].dropped);
            assert_eq!(verdicts[1 - at].doubts, []);
        }
    }

    #[test]
    fn rec_06_what_a_person_reviewed_beats_newer_tool_output() {
        let person = document("person", "The deploy script uses the blue cluster first.", true, "2026-01-01");
        let tool =
            document("tool", "The deploy script never uses the blue cluster first.", false, "2026-03-01");
        let verdicts = judged(&[tool, person]);
        assert!(verdicts[0].dropped);
        assert_eq!(verdicts[1].doubts, []);
    }

    #[test]
    fn rec_06_what_was_asked_for_by_its_number_is_not_doubted() {
        let seven =
            document("seven", "Topic 7 of the handbook is about the release train.", true, "2026-01-01");
        let eight =
            document("eight", "Topic 8 of the handbook is about the release train.", true, "2026-02-01");
        let candidates = [
            TrustCandidate { document: &seven, score: 1.0 },
            TrustCandidate { document: &eight, score: 0.9 },
        ];
        assert!(!check_trust(&candidates, &BTreeSet::new())[0].doubts.is_empty());
        assert!(
            check_trust(&candidates, &BTreeSet::from([crate::text::terms::hash("7")]))[0].doubts.is_empty()
        );
        let a = document("a", "Module parser3 owns the grammar of the config files.", true, "2026-01-01");
        let b = document("b", "Module parser4 owns the grammar of the config files.", true, "2026-02-01");
        assert!(judged(&[a, b]).iter().all(|verdict| verdict.doubts.is_empty()));
    }

    #[test]
    fn different_subjects_and_equal_statements_do_not_contradict() {
        let a = document("a", "Staging Postgres listens on port 5432.", true, "2026-01-01");
        let b = document("b", "Redis for the queue needs version 7 or later.", true, "2026-02-01");
        let same = document("c", "Staging Postgres listens on port 5432!", true, "2026-02-01");
        assert!(judged(&[a.clone(), b]).iter().all(|verdict| verdict.doubts.is_empty()));
        assert!(judged(&[a, same]).iter().all(|verdict| verdict.doubts.is_empty()));
    }

    #[test]
    fn rec_06_a_single_sighting_in_tool_output_is_passed_on_only_near_the_top() {
        let mut guess = document("guess", "The cache seems to live in var", false, "2026-01-01");
        guess.confidence = Some(Confidence::Low);
        let sure = document("sure", "Builds are cached under target", true, "2026-01-01");
        let weak =
            [TrustCandidate { document: &sure, score: 1.0 }, TrustCandidate { document: &guess, score: 0.5 }];
        assert!(check_trust(&weak, &BTreeSet::new())[1].dropped);
        let strong =
            [TrustCandidate { document: &guess, score: 1.0 }, TrustCandidate { document: &sure, score: 0.9 }];
        assert!(!check_trust(&strong, &BTreeSet::new())[0].dropped);
    }
}
