//! Answers one prompt from the current index. Every hit is checked against its file before it is shown.

use std::collections::{HashMap, HashSet};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use rekindle_core::base::scope::{ProjectId, is_project_visible_in};
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::fusion::MAX_CANDIDATES;
use rekindle_core::recall::merge::ObservationMention;
use rekindle_core::recall::message_match::{MAX_MESSAGES, score_below_notes};
use rekindle_core::recall::rank::RankedDocument;
use rekindle_core::recall::relevance_gate::RelevanceDecision;
use rekindle_core::recall::select::{self, DropReason, HitSelection, RecallHit, select};
use rekindle_core::recall::windows::{self, TextWindow, WindowSimilarity};
use rekindle_core::text::normalise::normalise;

use super::indexer;
use super::observation_merger::ObservationMerger;
use super::query_embedding::QueryEmbedding;
use super::relevance_gate::decide_relevance;
use super::relevance_gate::passage::passage;
use super::relevance_gate::reading::RescoringMode;
use super::search::{SearchResults, SearchRules, search};
use super::usage::UsageSummary;
use crate::index::{Embedder, IndexSnapshot, PreparedUnit, RecallIndex};
use crate::recall::messages::MessageStore;
use crate::recall::messages::search::{self, MessageFilter};
use crate::vault::Vault;
use crate::vault::sources;

/// The maximum number of documents to rank: all that were rescored. Duplicates and changed files reduce it.
const MAX_RANKED: usize = MAX_CANDIDATES;
/// The maximum size in bytes of a text to show whole; a longer text is shown by its best passage.
const MAX_WHOLE_BYTES: usize = 2000;

/// A request for recall.
#[derive(Clone, Copy, Debug)]
pub struct RecallRequest<'a> {
    /// The prompt to answer.
    pub prompt: &'a str,
    /// A rewrite of the prompt, if there is one.
    pub rewritten: Option<&'a str>,
    /// The filters on hits.
    pub filters: &'a RecallFilters,
    /// The rules of the search.
    pub rules: SearchRules<'a>,
    /// The maximum number of hits.
    pub k: usize,
    /// True to show the nearest hits even if the relevance gate rejects them: a person may judge for
    /// themselves.
    pub anyway: bool,
    /// The use of the cross-encoder in the decision.
    pub reading: RescoringMode<'a>,
    /// The ids of documents that the session already has.
    pub held_ids: &'a HashSet<String>,
    /// True to list other mentions of a hit (STO-16).
    pub mentions: bool,
    /// The messages of past sessions, which fill in for missing notes; `None` searches only notes.
    pub messages: Option<&'a MessageStore>,
    /// The number of messages to look for beside notes, even if notes fill all places.
    pub reserved_messages: usize,
    /// A predicate for documents to leave out.
    pub leave_out: fn(&Document) -> bool,
}

/// The reason why an answer may be incomplete. The answer is valid all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DegradationReason {
    /// There is no index, so the notes were searched by words.
    NoIndex,
    /// The index is unreadable, so the notes were searched by words.
    DamagedIndex,
    /// A part of the index is unreadable; the rest was searched.
    PartlyDamaged,
    /// The index does not include our latest changes.
    Behind,
    /// Some texts have no vector yet.
    Pending,
    /// The vectors are from another model, so the search was lexical.
    OtherModel,
    /// The model could not be loaded, so the search was lexical.
    NoModel,
}

impl DegradationReason {
    /// The reason as a phrase for a person.
    pub fn explain(self) -> &'static str {
        match self {
            Self::NoIndex => "there is no index yet, so only keywords were searched",
            Self::DamagedIndex => "the index is unusable, so only keywords were searched",
            Self::PartlyDamaged => "part of the index is damaged, so results may be missing",
            Self::Behind => "the newest changes are not indexed yet",
            Self::Pending => "some texts have no embedding yet",
            Self::OtherModel => "the index was built with another model, so only keywords were searched",
            Self::NoModel => "the embedding model is unusable, so only keywords were searched",
        }
    }
}

/// The answer to a prompt.
#[derive(Debug)]
pub struct RecallAnswer {
    /// The selected and the dropped hits.
    pub selection: HitSelection,
    /// The shown passage of each hit, in the same order.
    pub passages: Vec<ShownPassage>,
    /// The decision of the relevance gate; `None` if there was no evidence.
    pub decision: Option<RelevanceDecision>,
    /// True if hits were found but none is shown (B-06).
    pub abstained: bool,
    /// The number of hits that are raw messages; they come last.
    pub messages: usize,
    /// The reasons why the answer may be incomplete.
    pub degraded: Vec<DegradationReason>,
    /// The number of visible documents.
    pub documents: usize,
    /// The time of the model.
    pub embedding: Duration,
    /// The time of search and ranking.
    pub searching: Duration,
}

impl RecallAnswer {
    /// True if indexing would improve the next answer.
    pub fn is_worth_indexing(&self) -> bool {
        self.degraded.iter().any(|degraded| *degraded != DegradationReason::NoModel)
    }
}

/// The part of a document to show.
#[derive(Clone, Debug, PartialEq)]
pub struct ShownPassage {
    /// The text of the passage.
    pub text: String,
    /// The lines of the passage in the file.
    pub lines: Option<(u32, u32)>,
    /// True if the file changed since it was indexed; the passage is from its current text.
    pub refreshed: bool,
    /// The cosines of its windows with the query; empty if unknown.
    pub near: Vec<WindowSimilarity>,
}

/// Answers a prompt. Work that needs no vector runs while the model computes the embedding. That includes
/// reading `usage`, if it is loaded on first access.
pub fn ask(
    vault: &Vault,
    index: &RecallIndex,
    embedder: Option<Embedder<'_>>,
    usage: impl Deref<Target = UsageSummary>,
    request: &RecallRequest<'_>,
) -> Result<RecallAnswer, indexer::Error> {
    std::thread::scope(|scope| {
        let is_read = !matches!(request.reading, RescoringMode::Never);
        let query_embedding =
            QueryEmbedding::new(scope, embedder, request.prompt, request.rewritten).before_reading(is_read);
        answer(vault, index, embedder, usage, request, query_embedding)
    })
}

fn answer(
    vault: &Vault,
    index: &RecallIndex,
    embedder: Option<Embedder<'_>>,
    usage: impl Deref<Target = UsageSummary>,
    request: &RecallRequest<'_>,
    mut query_embedding: QueryEmbedding<'_>,
) -> Result<RecallAnswer, indexer::Error> {
    let (snapshot, mut degraded) = open(vault, index, embedder)?;
    let (snapshot, usage) = (Arc::new(snapshot), &*usage);
    // If the flags cannot decide, every document is read, because missing one would cost more.
    let filtered: Option<Vec<bool>> = (*request.filters != RecallFilters::default()).then(|| {
        let reads =
            |number| snapshot.document(number).is_some_and(|document| request.filters.matches(&document));
        let admits = |number| {
            let about = snapshot.document_info(number);
            let known = about.and_then(|about| request.filters.matches_flags(about.flags));
            known.unwrap_or_else(|| reads(number))
        };
        (0..snapshot.len()).map(admits).collect()
    });
    let mut freshness = FreshnessChecker { vault, snapshot: &snapshot, files: HashMap::new() };
    let mut merged: HashSet<u32> = HashSet::new();
    let (found, chosen) = loop {
        let is_visible = |number: u32| {
            !merged.contains(&number)
                && filtered.as_ref().is_none_or(|is_visible| is_visible.get(number as usize) == Some(&true))
        };
        let found = search(&snapshot, &mut query_embedding, &request.rules, &is_visible, MAX_RANKED);
        let chosen = select_hits(&found, &snapshot, &mut freshness, usage, request);
        // An observation with very many mentions must not crowd out everything else.
        let crowded = found.ranked.len() >= MAX_RANKED && chosen.selection.hits.len() < request.k;
        if !(crowded && merged.is_empty() && !chosen.merged.is_empty()) {
            break (found, chosen);
        }
        merged = chosen.merged;
    };
    let SelectedHits { mut selection, refreshed, damaged, .. } = chosen;
    if damaged {
        degraded.push(DegradationReason::PartlyDamaged);
    }
    if embedder.is_none() {
        degraded.push(DegradationReason::NoModel);
    }
    // A file with a hit was edited, so its new text may not be in the index.
    if freshness.has_changes() && !degraded.contains(&DegradationReason::Behind) {
        degraded.push(DegradationReason::Behind);
    }
    let numbers: Vec<u32> = selection.hits.iter().map(|hit| hit.ranked.document).collect();
    let passages =
        selection.hits.iter().map(|hit| passage(&snapshot, &found, hit.ranked.document, &hit.document));
    let small_talk = || query_embedding.small_talk();
    let decision = decide_relevance(request.prompt, &found, small_talk, &numbers, passages, &request.reading);
    let abstained = !request.anyway && decision.is_some_and(|decision| decision.is_silent());
    if abstained {
        selection.drop_all();
    } else if !request.anyway {
        selection.drop_faint();
    }
    let notes = selection.hits.len();
    let messages = message_hits(embedder, request, &selection);
    let abstained = abstained && messages.is_empty();
    selection.hits.extend(messages);
    let shown = selection.hits[..notes]
        .iter()
        .map(|hit| {
            shown_passage(&snapshot, &found, &hit.ranked, &hit.document, refreshed.contains(&hit.document.id))
        })
        .chain(selection.hits[notes..].iter().map(|hit| ShownPassage {
            text: hit.document.text.clone(),
            lines: hit.document.lines,
            refreshed: false,
            near: Vec::new(),
        }))
        .collect();
    let messages = selection.hits.len() - notes;
    Ok(RecallAnswer {
        selection,
        passages: shown,
        decision,
        abstained,
        messages,
        degraded,
        documents: found.columns.visible.iter().filter(|visible| **visible).count(),
        embedding: found.compared.as_ref().map_or(Duration::ZERO, |compared| compared.embedding),
        searching: found.searching,
    })
}

/// The hits that were selected.
struct SelectedHits {
    selection: HitSelection,
    /// The ids of documents that changed since they were indexed.
    refreshed: HashSet<String>,
    /// The numbers of documents that are merged into others.
    merged: HashSet<u32>,
    /// True if a document of the index is unreadable.
    damaged: bool,
}

/// Selects hits; observations that say the same become one hit (STO-16).
fn select_hits(
    found: &SearchResults,
    snapshot: &IndexSnapshot,
    freshness: &mut FreshnessChecker<'_>,
    usage: &UsageSummary,
    request: &RecallRequest<'_>,
) -> SelectedHits {
    let mut refreshed: HashSet<String> = HashSet::new();
    let mut merger = ObservationMerger::new(snapshot);
    let mut damaged = false;
    let documents = found.ranked.iter().filter_map(|ranked| {
        let indexed = snapshot.document(ranked.document);
        damaged |= indexed.is_none();
        let (document, is_new) = freshness.current(indexed?)?;
        // An edit by hand may have moved it to another project (B-05).
        let rules = &request.rules;
        let is_seen = rules.all_projects
            || is_project_visible_in(document.project.as_ref().map(ProjectId::as_str), rules.project);
        let unwanted = !request.filters.matches(&document) || (request.leave_out)(&document);
        if !is_seen || unwanted {
            return None;
        }
        if is_new {
            refreshed.insert(document.id.clone());
        }
        merger.is_new(ranked.document, &document, ranked.score).then_some((*ranked, document))
    });
    let mut selection = select(
        documents,
        request.filters,
        request.k,
        |document| usage.usage_score(document, request.rules.now),
        |document| request.held_ids.contains(&document.id),
        &found.terms.iter().map(|(term, _)| term.hash).collect(),
    );
    selection.record_merged(merger.absorbed.iter().map(|(_, document, score)| (document, *score)));
    let mut taken: HashSet<u32> = selection.hits.iter().map(|hit| hit.ranked.document).collect();
    let mut merged: HashSet<u32> = merger.absorbed.iter().map(|(number, ..)| *number).collect();
    let mut at = 0;
    while let Some(hit) = selection.hits.get_mut(at).filter(|_| request.mentions) {
        let all = merger.lineage(hit.ranked.document, &hit.document, &taken, |number| {
            // Replaced documents still have vectors in the index.
            found.columns.visible.get(number as usize).filter(|visible| **visible)?;
            let (document, _) = freshness.current(snapshot.document(number)?)?;
            let asked = request.filters.matches(&document);
            asked.then_some(document)
        });
        let own = hit.ranked.document;
        taken.extend(all.iter().map(|(number, _)| *number));
        merged.extend(all.iter().map(|(number, _)| *number).filter(|number| *number != own));
        if all.iter().any(|(_, document)| request.held_ids.contains(&document.id)) {
            selection.drop_hit(at, DropReason::Held);
            continue;
        }
        if let Some((_, newest)) = all.last().filter(|_| all.len() > 1) {
            hit.lineage =
                all.iter().map(|(_, document)| ObservationMention::from_document(document)).collect();
            // The hit shows the newest mention.
            hit.document = newest.clone();
        }
        at += 1;
    }
    SelectedHits { selection, refreshed, merged, damaged }
}

/// Finds messages of past sessions to fill the places below the notes. Errors are ignored, so that they do
/// not affect the notes.
fn message_hits(
    embedder: Option<Embedder<'_>>,
    request: &RecallRequest<'_>,
    selection: &HitSelection,
) -> Vec<RecallHit> {
    let room = request.k.min(select::MAX_LISTED_RESULTS).saturating_sub(selection.hits.len());
    let (Some(messages), Some(mut filter)) = (request.messages, MessageFilter::from_filters(request.filters))
    else {
        return Vec::new();
    };
    // A search for messages may fill all places; any other gets only a few messages.
    let asked = request.filters.sources.contains(&DocumentSource::Message);
    let most = if asked { room } else { room.min(MAX_MESSAGES).max(request.reserved_messages) };
    let Some(snapshot) = (most > 0).then(|| messages.open().ok().flatten()).flatten() else {
        return Vec::new();
    };
    if !asked {
        filter.cited = messages.citation_index();
    }
    let found =
        search::find(&snapshot, embedder, request.prompt, request.rewritten, &request.rules, &filter, most);
    let known: HashSet<String> = selection.hits.iter().map(|hit| normalise(&hit.document.text)).collect();
    let lowest = selection.hits.iter().map(|hit| hit.ranked.score).fold(f32::INFINITY, f32::min);
    let unsaid = found.into_iter().filter(|found| {
        !request.held_ids.contains(&found.document.id) && !known.contains(&normalise(&found.document.text))
    });
    unsaid
        .map(|search::FoundMessage { document, mut ranked, .. }| {
            ranked.score = score_below_notes(ranked.score, lowest);
            RecallHit { document, ranked, doubts: Vec::new(), lineage: Vec::new() }
        })
        .collect()
}

/// Opens the index; without one, indexes the notes in memory.
fn open(
    vault: &Vault,
    index: &RecallIndex,
    embedder: Option<Embedder<'_>>,
) -> Result<(IndexSnapshot, Vec<DegradationReason>), indexer::Error> {
    let mut degraded = Vec::new();
    match index.open() {
        Ok(Some(snapshot)) => {
            if indexer::newest_change(vault)?.as_ref() != snapshot.last_seen_change() || snapshot.is_torn() {
                degraded.push(DegradationReason::Behind);
            }
            match embedder {
                Some(embedder) if !snapshot.is_from_model(&embedder.space()) => {
                    degraded.push(DegradationReason::OtherModel);
                }
                _ if snapshot.size().pending > 0 => degraded.push(DegradationReason::Pending),
                _ => {}
            }
            return Ok((snapshot, degraded));
        }
        Ok(None) => degraded.push(DegradationReason::NoIndex),
        // If the index is unusable for any reason, the notes are searched.
        Err(_) => degraded.push(DegradationReason::DamagedIndex),
    }
    let listed = sources::names(vault)?;
    let paths: Vec<&str> = listed.files.iter().map(String::as_str).collect();
    let (units, _) = sources::read_many(vault, &paths, PreparedUnit::with_counts, &mut |_| true);
    Ok((IndexSnapshot::in_memory(units), degraded))
}

/// Checks that files are as they were indexed. It reads only the files of hits.
struct FreshnessChecker<'a> {
    vault: &'a Vault,
    snapshot: &'a IndexSnapshot,
    /// The current documents of changed files; `None` for unchanged files.
    files: HashMap<String, Option<Vec<Document>>>,
}

impl FreshnessChecker<'_> {
    /// True if any checked file changed since it was indexed.
    fn has_changes(&self) -> bool {
        self.files.values().any(Option::is_some)
    }

    /// The document with the current text of its file, and true if that differs; `None` if it is gone.
    fn current(&mut self, document: Document) -> Option<(Document, bool)> {
        let (vault, snapshot) = (self.vault, self.snapshot);
        let path = document.path.clone();
        let now = self.files.entry(path.clone()).or_insert_with(|| {
            let is_same =
                snapshot.stamp(&path).is_some_and(|stamp| sources::is_unchanged(vault, &path, &stamp));
            if is_same {
                None
            } else {
                Some(sources::read(vault, &path).map(|unit| unit.documents).unwrap_or_default())
            }
        });
        match now {
            None => Some((document, false)),
            Some(documents) => {
                let now = documents.iter().find(|now| now.id == document.id)?;
                let is_new = now.text != document.text;
                Some((now.clone(), is_new))
            }
        }
    }
}

/// The window of a document that is nearest to the query. It is a window of the indexed text, not of newer
/// text or of a duplicate.
fn nearest_passage(
    snapshot: &IndexSnapshot,
    found: &SearchResults,
    number: u32,
    document: &Document,
) -> Option<TextWindow> {
    let window = snapshot.best_passage(number, found.vector()?)?;
    let indexed = snapshot.document(number)?;
    (indexed.id == document.id && indexed.text == document.text).then_some(window)
}

/// The passage of a document to show: the whole text, or of a long text the best window, cut at whole lines.
fn shown_passage(
    snapshot: &IndexSnapshot,
    found: &SearchResults,
    ranked: &RankedDocument,
    document: &Document,
    refreshed: bool,
) -> ShownPassage {
    // The windows are of the indexed text, not of newer text or of a duplicate. They are relative to the
    // searched text, which begins with the title and tags.
    let lead = document.searched_text().len() - document.text.len();
    let near = |start: usize, length: usize| -> Vec<WindowSimilarity> {
        let is_as_indexed = || {
            let indexed = snapshot.document(ranked.document);
            indexed.is_some_and(|indexed| indexed.id == document.id && indexed.text == document.text)
        };
        let Some(vector) = found.vector().filter(|_| !refreshed && is_as_indexed()) else {
            return Vec::new();
        };
        let inside = |at: usize| at.saturating_sub(lead + start).min(length);
        let all = snapshot.window_cosines(ranked.document, vector).into_iter();
        all.map(|WindowSimilarity { window, cosine }| {
            let window = TextWindow { start: inside(window.start), end: inside(window.end) };
            WindowSimilarity { window, cosine }
        })
        .filter(|near| near.window.start < near.window.end)
        .collect()
    };
    let whole = || ShownPassage {
        text: document.text.clone(),
        lines: document.lines,
        refreshed,
        near: near(0, document.text.len()),
    };
    if document.text.len() <= MAX_WHOLE_BYTES {
        return whole();
    }
    let Some(window) = nearest_passage(snapshot, found, ranked.document, document) else { return whole() };
    let part = TextWindow { start: window.start.saturating_sub(lead), end: window.end.saturating_sub(lead) };
    let Some(text) = document.text.get(part.start..part.end.min(document.text.len())) else { return whole() };
    let (first, last) = windows::lines(&document.text, part);
    let lines = document.lines.map(|(from, to)| {
        // The first line may be a heading, which is not part of the text.
        let from = from.max((to + 1).saturating_sub(document.text.lines().count() as u32));
        ((from + first - 1).min(to), (from + last - 1).min(to))
    });
    let trimmed = text.trim();
    let start = part.start + (trimmed.as_ptr().addr() - text.as_ptr().addr());
    ShownPassage { text: trimmed.to_owned(), lines, refreshed, near: near(start, trimmed.len()) }
}

#[cfg(test)]
mod tests;
