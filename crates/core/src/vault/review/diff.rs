//! Reads a person's decisions: compares the page with its recorded state.
//!
//! A tick is a decision wherever it is. A missing line is one only on a page that is otherwise complete and
//! ours, because sync, editors and crashes also lose lines.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parse::{CheckboxState, PageEntry, ParsedItem, ParsedPage, after_dash, parse};
use super::{ListedProposal, ProposalId, ShownPage};
use crate::base::scope::Scope;
use crate::vault::escape::normalise_line;
use crate::vault::lines::BrokenDocument;

/// The decision on one proposal (REV-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageDecision {
    /// Ticked, with the proposed words.
    Approved,
    /// Ticked after rewording; the new words are promoted.
    ApprovedEdited {
        /// The title as reworded.
        title: String,
        /// The text as reworded.
        text: String,
    },
    /// Turned down by the person.
    Rejected {
        /// The sign of the rejection.
        how: RejectionMark,
    },
    /// Neither ticked nor turned down.
    Pending,
    /// Reworded but not decided.
    EditedPending {
        /// The title as reworded.
        title: String,
        /// The text as reworded.
        text: String,
    },
}

/// The sign of a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RejectionMark {
    /// The checkbox was marked with `[-]`.
    Ticked,
    /// The line was deleted.
    LineDeleted,
}

/// A proposal with its decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DecidedProposal {
    /// The id of the proposal.
    pub id: ProposalId,
    /// The decision on it.
    pub decision: PageDecision,
    /// The scope of an approved one, if its line names one.
    #[serde(skip)]
    pub scope: Option<Scope>,
}

/// The decisions on a whole page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewDecisions {
    /// All shown proposals, in their order.
    pub decided: Vec<DecidedProposal>,
    /// Ids on the page that were not shown.
    pub unknown: Vec<ProposalId>,
}

/// The reason why the page is ambiguous, so that somebody has to be asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PageDoubt {
    /// The page is empty.
    #[error("the review page is empty; restore it, or decide with `rekindle review`")]
    Emptied,
    /// The document's structure is ambiguous.
    #[error(transparent)]
    Broken(#[from] BrokenDocument),
    /// It is not the last version that we wrote.
    #[error("the review page is not the version written last, perhaps an old copy from sync")]
    OtherVersion,
    /// One proposal has two different decisions.
    #[error("line {line} decides {id} differently than an earlier line; keep one of them")]
    Twice {
        /// The id of the proposal.
        id: ProposalId,
        /// The number of the second line.
        line: usize,
    },
    /// Too many lines are missing to count as rejections.
    #[error("{missing} of {shown} proposals are missing from the review page; tick `[-]` to reject them")]
    MostMissing {
        /// The number of missing lines.
        missing: usize,
        /// The number of shown proposals.
        shown: usize,
    },
}

/// Reads the decisions on the page `text`, given its recorded state. An `Err` decides nothing.
pub fn diff(shown: &ShownPage, text: &str) -> Result<ReviewDecisions, PageDoubt> {
    if shown.proposals.is_empty() {
        return Ok(ReviewDecisions::default());
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(PageDoubt::Emptied);
    }
    let page = parse(text)?;
    let version = page.footer.as_ref().and_then(|footer| footer.version.as_ref());
    if version.is_some_and(|version| *version != shown.version) {
        return Err(PageDoubt::OtherVersion);
    }
    contradictions(&page.entries)?;
    let whole = page.titled && version.is_some();
    let cut = page.entries.last().filter(|_| page.footer.is_none());
    let mut missing = 0;
    let decided = shown.proposals.iter().map(|proposal| {
        let found = page.entries.iter().find(|entry| entry.id == proposal.id);
        let decision = match found {
            Some(entry) => decide(proposal, entry, cut.is_some_and(|cut| std::ptr::eq(cut, entry))),
            None => match without_id(proposal, &page) {
                Some(state) => decide_unchanged(state),
                None if whole && !is_mentioned(proposal, &page, text) => {
                    missing += 1;
                    PageDecision::Rejected { how: RejectionMark::LineDeleted }
                }
                None => PageDecision::Pending,
            },
        };
        let scope = found.and_then(|entry| scope_of(proposal, entry));
        DecidedProposal { id: proposal.id, decision, scope }
    });
    let decided = decided.collect();
    if missing > 1 && 2 * missing > shown.proposals.len() {
        return Err(PageDoubt::MostMissing { missing, shown: shown.proposals.len() });
    }
    let was_shown = |id: &ProposalId| shown.proposals.iter().any(|proposal| proposal.id == *id);
    let unknown = page.entries.iter().map(|entry| entry.id).filter(|id| !was_shown(id)).collect();
    Ok(ReviewDecisions { decided, unknown })
}

/// Checks that two lines for one proposal agree; otherwise nothing on the page counts.
fn contradictions(entries: &[PageEntry]) -> Result<(), PageDoubt> {
    for (at, entry) in entries.iter().enumerate() {
        let differs = |first: &PageEntry| {
            let words =
                flat(&first.reading.whole) != flat(&entry.reading.whole) || first.scope != entry.scope;
            first.state != entry.state || first.state == CheckboxState::Approved && words
        };
        if entries[..at].iter().find(|first| first.id == entry.id).is_some_and(differs) {
            return Err(PageDoubt::Twice { id: entry.id, line: entry.line });
        }
    }
    Ok(())
}

fn decide(proposal: &ListedProposal, entry: &PageEntry, cut: bool) -> PageDecision {
    if is_unchanged(proposal, entry) {
        return decide_unchanged(entry.state);
    }
    let (title, text) = split_by_title(proposal, &entry.reading);
    let worded = !(title.is_empty() && text.is_empty());
    match entry.state {
        CheckboxState::Rejected => PageDecision::Rejected { how: RejectionMark::Ticked },
        // The last line of a truncated page may be incomplete, and ticking a line without words means
        // nothing.
        _ if cut || !worded => PageDecision::Pending,
        CheckboxState::Approved => PageDecision::ApprovedEdited { title, text },
        CheckboxState::Pending => PageDecision::EditedPending { title, text },
    }
}

/// The scope that a line names, even if a note is attached below it.
fn scope_of(proposal: &ListedProposal, entry: &PageEntry) -> Option<Scope> {
    let shorter = entry.shorter.as_ref().filter(|_| has_note_below(proposal, entry));
    shorter.map_or_else(|| entry.scope.clone(), |shorter| shorter.scope.clone())
}

fn decide_unchanged(state: CheckboxState) -> PageDecision {
    match state {
        CheckboxState::Approved => PageDecision::Approved,
        CheckboxState::Rejected => PageDecision::Rejected { how: RejectionMark::Ticked },
        CheckboxState::Pending => PageDecision::Pending,
    }
}

/// True if the line has the proposed words. Wrapping, emphasis and the dash may differ.
pub(super) fn is_unchanged(proposal: &ListedProposal, entry: &PageEntry) -> bool {
    says_same(proposal, &entry.reading) || has_note_below(proposal, entry)
}

/// True if the line itself is unchanged and only a note is attached below it.
pub(super) fn has_note_below(proposal: &ListedProposal, entry: &PageEntry) -> bool {
    entry.shorter.as_ref().is_some_and(|shorter| says_same(proposal, shorter))
}

fn says_same(proposal: &ListedProposal, reading: &ParsedItem) -> bool {
    let (title, text) = split_by_title(proposal, reading);
    flat(&title) == flat(&proposal.title) && flat(&text) == flat(&proposal.text)
}

/// The title and text of a line. The original title shows where it ends if its emphasis is lost.
fn split_by_title(proposal: &ListedProposal, reading: &ParsedItem) -> (String, String) {
    let lost = || {
        let rest = flat(&reading.whole).strip_prefix(&flat(&proposal.title))?.to_owned();
        let dash = after_dash(&rest).or_else(|| rest.is_empty().then_some(""))?;
        // The words themselves, with their line breaks.
        let text = reading.whole.get(reading.whole.len().checked_sub(dash.trim().len())?..);
        let kept = text.filter(|text| flat(text) == flat(dash)).unwrap_or(dash);
        Some((proposal.title.clone(), kept.trim().to_owned()))
    };
    if flat(&reading.title) == flat(&proposal.title) || proposal.title.is_empty() {
        return (reading.title.clone(), reading.text.clone());
    }
    lost().unwrap_or_else(|| (reading.title.clone(), reading.text.clone()))
}

/// The checkbox of a line that lost only its id.
fn without_id(proposal: &ListedProposal, page: &ParsedPage) -> Option<CheckboxState> {
    page.loose.iter().find(|(_, reading)| says_same(proposal, reading)).map(|(state, _)| *state)
}

/// True if the page still contains the proposal in an unknown form.
fn is_mentioned(proposal: &ListedProposal, page: &ParsedPage, text: &str) -> bool {
    let words = if proposal.text.is_empty() { &proposal.title } else { &proposal.text };
    let noted = |range: &std::ops::Range<usize>| flat(&text[range.clone()]).contains(&flat(words));
    text.contains(&proposal.id.to_string()) || !words.is_empty() && page.notes.iter().any(noted)
}

fn flat(text: &str) -> String {
    normalise_line(text)
}
