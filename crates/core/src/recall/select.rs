//! Selects the hits to show from the ranked documents: applies the filters, merges duplicates, drops
//! untrusted hits and limits the number.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;

use super::document::{Document, DocumentSource};
use super::filter::RecallFilters;
use super::merge::ObservationMention;
use super::rank::RankedDocument;
use super::trust::{self, TrustCandidate, TrustDoubt};
use crate::text::normalise::normalise;

/// The maximum number of results for an agent (REC-04).
pub const MAX_RESULTS: usize = 10;
/// The maximum number of results for a person: all rescored documents.
pub const MAX_LISTED_RESULTS: usize = super::fusion::MAX_CANDIDATES;
/// The default number of results.
pub const DEFAULT_RESULTS: usize = 5;
/// The number of candidates per result. Some candidates are duplicates, and some contradict each other.
const CANDIDATES_PER_RESULT: usize = 3;

/// A document to show.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallHit {
    /// The document of the hit.
    pub document: Document,
    /// The score of the document and its parts.
    pub ranked: RankedDocument,
    /// The doubts of the trust check.
    pub doubts: Vec<TrustDoubt>,
    /// Every mention, oldest first; empty if there is only one (STO-16).
    pub lineage: Vec<ObservationMention>,
}

/// The usage of a document in earlier recalls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UsageScore {
    /// The usage score, from -1 to 1 (REC-08).
    pub strength: f32,
    /// True if it has been unused for so long that it may be outdated (FBK-04).
    pub stale: bool,
}

/// The reason why a document that was found is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// It repeats a better hit.
    Duplicate,
    /// The trust check dropped it (REC-06).
    Trust,
    /// Enough hits rank above it.
    Cap,
    /// The session already has it.
    Held,
    /// The relevance gate rejected all hits (B-06).
    Silence,
    /// It is far less relevant than the best hit.
    Faint,
}

/// A document that was found but is not shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DroppedHit {
    /// The id of the document.
    pub id: String,
    /// The title of the document.
    pub title: String,
    /// The score of the document.
    pub score: f32,
    /// The reason for the drop.
    pub rule: DropReason,
    /// The doubts of the trust check.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubts: Vec<TrustDoubt>,
}

/// The selected and the dropped hits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HitSelection {
    /// The best hits, in order.
    pub hits: Vec<RecallHit>,
    /// The best of the dropped hits.
    pub dropped: Vec<DroppedHit>,
    /// The highest relevance among documents that the session already has; 0 if there are none.
    pub held_relevance: f32,
}

impl HitSelection {
    /// Moves all hits to the dropped ones.
    pub fn drop_all(&mut self) {
        let hits = std::mem::take(&mut self.hits);
        let dropped = hits
            .into_iter()
            .map(|hit| dropped_hit(&hit.document, hit.ranked.score, DropReason::Silence, hit.doubts));
        self.dropped.splice(0..0, dropped);
    }

    /// Drops hits that are far less relevant than the best, and hits that add little to the documents of the
    /// session.
    pub fn drop_faint(&mut self) {
        let best = self.hits.iter().map(|hit| hit.ranked.parts.relevance).fold(0.0, f32::max);
        let (faint, beside) =
            (MIN_RELATIVE_RELEVANCE * best, MIN_RELEVANCE_BESIDE_HELD * self.held_relevance);
        // A memory that the session does not have is not a repetition.
        let repeats = |hit: &RecallHit| !is_memory(&hit.document) && hit.ranked.parts.relevance < beside;
        let is_faint = |hit: &RecallHit| hit.ranked.parts.relevance < faint || repeats(hit);
        while let Some(at) = self.hits.iter().position(is_faint) {
            self.drop_hit(at, DropReason::Faint);
        }
    }

    /// Moves a hit to the dropped ones.
    pub fn drop_hit(&mut self, at: usize, rule: DropReason) {
        let hit = self.hits.remove(at);
        self.dropped.push(dropped_hit(&hit.document, hit.ranked.score, rule, hit.doubts));
    }

    /// Records duplicates of earlier hits as dropped, as far as there is room.
    pub fn record_merged<'d>(&mut self, merged: impl IntoIterator<Item = (&'d Document, f32)>) {
        let room = MAX_REPORTED_DROPS.saturating_sub(self.dropped.len());
        let dropped = merged
            .into_iter()
            .take(room)
            .map(|(document, score)| dropped_hit(document, score, DropReason::Duplicate, Vec::new()));
        self.dropped.extend(dropped);
    }

    /// The number of hits that the trust check dropped.
    pub fn trust_drop_count(&self) -> usize {
        self.dropped.iter().filter(|dropped| dropped.rule == DropReason::Trust).count()
    }
}

/// Selects hits from `found`, which is in descending order. `usage` is the usage of a document (REC-08,
/// REC-09), `held` is true for documents that the session already has, and `asked` are the terms of the
/// query.
pub fn select(
    found: impl Iterator<Item = (RankedDocument, Document)>,
    filters: &RecallFilters,
    k: usize,
    usage: impl Fn(&Document) -> UsageScore,
    held: impl Fn(&Document) -> bool,
    asked: &BTreeSet<u64>,
) -> HitSelection {
    let k = k.min(MAX_LISTED_RESULTS);
    let mut selection = HitSelection::default();
    let mut pool: Vec<RecallHit> = Vec::new();
    let mut groups: HashMap<String, usize> = HashMap::new();
    let mut held_texts: HashSet<String> = HashSet::new();
    for (ranked, document) in found.filter(|(_, document)| filters.matches(document)) {
        if held(&document) {
            selection.held_relevance = selection.held_relevance.max(ranked.parts.relevance);
            held_texts.insert(normalise(&document.text));
            selection.dropped.push(dropped_hit(&document, ranked.score, DropReason::Held, Vec::new()));
            continue;
        }
        match groups.entry(normalise(&document.text)) {
            Entry::Occupied(same) => {
                let mut other = (ranked, document);
                if let Some(shown) = pool.get_mut(*same.get())
                    && precedence(&other.1) > precedence(&shown.document)
                {
                    let ranked = other.0.with_min_of(&shown.ranked);
                    let better = weighed(ranked, other.1, &usage);
                    let worse = std::mem::replace(shown, better);
                    other = (worse.ranked, worse.document);
                }
                selection.dropped.push(dropped_hit(
                    &other.1,
                    other.0.score,
                    DropReason::Duplicate,
                    Vec::new(),
                ));
                if selection.dropped.len() > MAX_REPORTED_DROPS {
                    selection.dropped.pop();
                }
                continue;
            }
            Entry::Vacant(new) => {
                new.insert(pool.len());
            }
        }
        pool.push(weighed(ranked, document, &usage));
        if pool.len() > k * CANDIDATES_PER_RESULT {
            break;
        }
    }
    // A log line with the same text as a memory that the session has is a repetition.
    for hit in pool.extract_if(.., |hit| held_texts.contains(&normalise(&hit.document.text))) {
        selection.dropped.push(dropped_hit(&hit.document, hit.ranked.score, DropReason::Held, Vec::new()));
    }
    order(&mut pool);
    let verdicts = {
        let candidates: Vec<TrustCandidate<'_>> = pool
            .iter()
            .map(|hit| TrustCandidate { document: &hit.document, score: hit.ranked.score })
            .collect();
        trust::check_trust(&candidates, asked)
    };
    let mut kept = Vec::with_capacity(pool.len());
    for (mut hit, verdict) in pool.into_iter().zip(verdicts) {
        if verdict.dropped {
            selection.dropped.push(dropped_hit(
                &hit.document,
                hit.ranked.score,
                DropReason::Trust,
                verdict.doubts,
            ));
            continue;
        }
        hit.ranked.score *= verdict.factor;
        hit.doubts = verdict.doubts;
        kept.push(hit);
    }
    order(&mut kept);
    for hit in kept.split_off(k.min(kept.len())) {
        selection.dropped.push(dropped_hit(&hit.document, hit.ranked.score, DropReason::Cap, hit.doubts));
    }
    selection.hits = kept;
    selection
}

/// The precedence between duplicates: reviewed documents win, then memories over observations.
fn precedence(document: &Document) -> (bool, bool) {
    (document.reviewed, is_memory(document))
}

fn is_memory(document: &Document) -> bool {
    matches!(document.source, DocumentSource::Entry | DocumentSource::Skill | DocumentSource::Memory)
}

/// Applies the usage of a document to its score.
fn weighed(
    mut ranked: RankedDocument,
    mut document: Document,
    usage: impl Fn(&Document) -> UsageScore,
) -> RecallHit {
    let before = ranked.factors.combined();
    let lived = usage(&document);
    document.stale |= lived.stale;
    ranked.factors = ranked.factors.with_usage(lived.strength).with_stale(document.stale);
    // A score that decayed to zero stays zero; dividing by it would give NaN.
    if before > 0.0 {
        ranked.score *= ranked.factors.combined() / before;
    }
    RecallHit { document, ranked, doubts: Vec::new(), lineage: Vec::new() }
}

/// The minimum share of the best relevance. On the tuning halves of `eval/`, no hit below it was right (0 of
/// 2,498); many above it were.
const MIN_RELATIVE_RELEVANCE: f32 = 0.3;
/// The minimum share of the relevance of the session's documents, below which a hit only repeats their
/// subject.
const MIN_RELEVANCE_BESIDE_HELD: f32 = 0.7;
/// The maximum number of dropped hits to report.
const MAX_REPORTED_DROPS: usize = 50;

fn dropped_hit(document: &Document, score: f32, rule: DropReason, doubts: Vec<TrustDoubt>) -> DroppedHit {
    DroppedHit { id: document.id.clone(), title: document.title.clone(), score, rule, doubts }
}

/// Orders by descending score, and ties by id, because ids survive a rebuild.
fn order(hits: &mut [RecallHit]) {
    hits.sort_by(|a, b| {
        b.ranked.score.total_cmp(&a.ranked.score).then_with(|| a.document.id.cmp(&b.document.id))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recall::fusion::RelevanceParts;
    use crate::recall::score_factors::ScoreFactors;

    fn found(count: usize, text: impl Fn(usize) -> String) -> Vec<(RankedDocument, Document)> {
        let factors = ScoreFactors { decay: 1.0, usage: 1.0, stale: 1.0, trust: 1.0, project: 1.0 };
        (0..count)
            .map(|n| {
                let ranked = RankedDocument {
                    document: n as u32,
                    score: 1.0 / (1.0 + n as f32),
                    parts: RelevanceParts { relevance: 1.0 / (1.0 + n as f32), ..RelevanceParts::default() },
                    factors,
                };
                let document = Document {
                    id: format!("d{n:05}"),
                    group: if n % 2 == 0 { "even" } else { "odd" }.into(),
                    ..Document::unannotated(DocumentSource::Entry, "", text(n))
                };
                (ranked, document)
            })
            .collect()
    }

    fn ids(selection: &HitSelection) -> Vec<&str> {
        selection.hits.iter().map(|hit| hit.document.id.as_str()).collect()
    }

    fn plain(found: Vec<(RankedDocument, Document)>, k: usize) -> HitSelection {
        select(
            found.into_iter(),
            &RecallFilters::default(),
            k,
            |_| UsageScore::default(),
            |_| false,
            &BTreeSet::new(),
        )
    }

    #[test]
    fn never_more_than_were_looked_at() {
        let selection = plain(found(1000, |n| format!("text {n}")), 1000);
        assert_eq!(selection.hits.len(), MAX_LISTED_RESULTS);
        assert_eq!(plain(found(100, |n| format!("text {n}")), DEFAULT_RESULTS).hits.len(), 5);
        assert!(plain(found(9, |n| format!("text {n}")), 0).hits.is_empty());
    }

    #[test]
    fn ten_thousand_hits_with_the_same_text_are_one() {
        let selection = plain(found(10_000, |_| "The same, again.".into()), 5);
        assert_eq!(ids(&selection), ["d00000"]);
        assert!(selection.dropped.iter().all(|dropped| dropped.rule == DropReason::Duplicate));
        assert!(selection.dropped.len() <= MAX_REPORTED_DROPS + 1);
    }

    #[test]
    fn sto_16_of_two_that_say_the_same_the_memory_is_shown_and_not_where_it_was_noticed() {
        let mut pair = found(3, |n| if n == 2 { "Other.".into() } else { "Use pnpm.".into() });
        pair[0].1.source = DocumentSource::Observation;
        for document in pair.iter_mut().map(|(_, document)| document) {
            document.reviewed = false;
        }
        let selection = plain(pair, 5);
        assert_eq!(ids(&selection), ["d00001", "d00002"]);
        assert!(selection.hits[0].ranked.score > 0.9, "what was found better counts for both");
        assert_eq!(
            (selection.dropped[0].id.as_str(), selection.dropped[0].rule),
            ("d00000", DropReason::Duplicate)
        );
        // A reviewed document wins over an unreviewed duplicate.
        let mut pair = found(2, |_| "Use pnpm.".into());
        pair[0].1.reviewed = false;
        pair[1].1.source = DocumentSource::Note;
        assert_eq!(ids(&plain(pair, 5)), ["d00001"]);
    }

    #[test]
    fn rec_08_a_memory_that_helped_passes_one_that_did_not() {
        let mut pair = found(2, |n| format!("alpha beta {n}x"));
        pair[1].0.score = pair[0].0.score * 0.97;
        let helped = |document: &Document| UsageScore {
            strength: if document.id == "d00001" { 0.6 } else { 0.0 },
            stale: false,
        };
        let selection =
            select(pair.into_iter(), &RecallFilters::default(), 5, helped, |_| false, &BTreeSet::new());
        assert_eq!(ids(&selection), ["d00001", "d00000"]);
        assert!(selection.hits[0].ranked.factors.usage > 1.0);
    }

    #[test]
    fn rec_10_filters_reach_past_the_best() {
        let filters = RecallFilters { groups: vec!["odd".into()], ..RecallFilters::default() };
        let selection = select(
            found(60, |n| format!("t {n}")).into_iter(),
            &filters,
            3,
            |_| UsageScore::default(),
            |_| false,
            &BTreeSet::new(),
        );
        assert_eq!(ids(&selection), ["d00001", "d00003", "d00005"]);
    }

    #[test]
    fn b_06_hits_far_from_the_best_are_not_shown() {
        let mut found = found(5, |n| format!("t {n}"));
        // The first is old and ranks below others; only its relevance matters here.
        found[0].0.score = 0.1;
        let lived = |_: &Document| UsageScore::default();
        let all = select(found.into_iter(), &RecallFilters::default(), 5, lived, |_| false, &BTreeSet::new());
        let mut near = all.clone();
        near.drop_faint();
        assert_eq!((all.hits.len(), ids(&near)), (5, vec!["d00001", "d00002", "d00000"]));
        assert!(
            near.dropped.iter().all(|dropped| dropped.rule == DropReason::Faint) && near.dropped.len() == 2
        );
        let mut nothing = HitSelection::default();
        nothing.drop_faint();
        assert_eq!(nothing, HitSelection::default());
    }

    #[test]
    fn memories_already_in_the_session_are_not_shown_again() {
        let held = |document: &Document| document.id == "d00000";
        let selection = select(
            found(3, |n| format!("t {n}")).into_iter(),
            &RecallFilters::default(),
            5,
            |_| UsageScore::default(),
            held,
            &BTreeSet::new(),
        );
        assert_eq!(ids(&selection), ["d00001", "d00002"]);
        assert_eq!(selection.dropped[0].rule, DropReason::Held);
    }
}
