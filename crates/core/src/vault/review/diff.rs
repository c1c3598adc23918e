//! What a person decided: the page as it is, held against the page as we wrote it.
//!
//! A tick is a decision wherever it stands. A line that is not there is one only on a page that is otherwise whole and
//! ours, because sync, editors and crashes make lines vanish too.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::parse::{Entry, Parsed, Reading, State, after_dash, parse};
use super::{Id, Proposal, Shown};
use crate::base::scope::Scope;
use crate::vault::escape::tidy_line;
use crate::vault::lines::Broken;

/// What became of one proposal (REV-03).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Ticked as it was.
    Approved,
    /// Ticked after rewording: these words are promoted.
    ApprovedEdited {
        /// The title as reworded.
        title: String,
        /// The text as reworded.
        text: String,
    },
    /// Turned down.
    Rejected {
        /// By which sign.
        how: How,
    },
    /// Not decided.
    Pending,
    /// Reworded but not decided.
    EditedPending {
        /// The title as reworded.
        title: String,
        /// The text as reworded.
        text: String,
    },
}

/// How a proposal was turned down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// With `[-]`.
    Ticked,
    /// By deleting its line.
    LineDeleted,
}

/// A proposal and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The proposal.
    pub id: Id,
    /// What became of it.
    pub decision: Decision,
    /// Where an approved one is to hold, if its line says so.
    #[serde(skip)]
    pub scope: Option<Scope>,
}

/// The whole page's outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decisions {
    /// Every proposal shown, in the order shown.
    pub decided: Vec<Decided>,
    /// Ids on the page that were not shown.
    pub unknown: Vec<Id>,
}

/// Why the page decides nothing until somebody was asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Doubt {
    /// Nothing is left of it.
    #[error("the review page is empty; restore it, or decide with `rekindle review`")]
    Emptied,
    /// Its structure is not certain.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It is not the page we wrote last.
    #[error(
        "the review page is a different version than the one written last, perhaps an old copy from sync"
    )]
    OtherVersion,
    /// One proposal is decided twice, differently.
    #[error("line {line} decides {id} differently than an earlier line; keep one of them")]
    Twice {
        /// The proposal.
        id: Id,
        /// The second line.
        line: usize,
    },
    /// Too many lines are gone to call it a decision.
    #[error("{missing} of {shown} proposals are missing from the review page; tick `[-]` to turn them down")]
    MostMissing {
        /// How many lines are gone.
        missing: usize,
        /// Of how many.
        shown: usize,
    },
}

/// Reads the decisions off the page `text`, given what it last showed. An `Err` decides nothing.
pub fn diff(shown: &Shown, text: &str) -> Result<Decisions, Doubt> {
    if shown.proposals.is_empty() {
        return Ok(Decisions::default());
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(Doubt::Emptied);
    }
    let page = parse(text)?;
    let version = page.footer.as_ref().and_then(|footer| footer.version.as_ref());
    if version.is_some_and(|version| *version != shown.version) {
        return Err(Doubt::OtherVersion);
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
                    Decision::Rejected { how: How::LineDeleted }
                }
                None => Decision::Pending,
            },
        };
        let scope = found.and_then(|entry| scope_of(proposal, entry));
        Decided { id: proposal.id, decision, scope }
    });
    let decided = decided.collect();
    if missing > 1 && 2 * missing > shown.proposals.len() {
        return Err(Doubt::MostMissing { missing, shown: shown.proposals.len() });
    }
    let was_shown = |id: &Id| shown.proposals.iter().any(|proposal| proposal.id == *id);
    let unknown = page.entries.iter().map(|entry| entry.id).filter(|id| !was_shown(id)).collect();
    Ok(Decisions { decided, unknown })
}

/// Two lines for one proposal agree, or nothing on the page counts.
fn contradictions(entries: &[Entry]) -> Result<(), Doubt> {
    for (at, entry) in entries.iter().enumerate() {
        let differs = |first: &Entry| {
            let words =
                flat(&first.reading.whole) != flat(&entry.reading.whole) || first.scope != entry.scope;
            first.state != entry.state || first.state == State::Approved && words
        };
        if entries[..at].iter().find(|first| first.id == entry.id).is_some_and(differs) {
            return Err(Doubt::Twice { id: entry.id, line: entry.line });
        }
    }
    Ok(())
}

fn decide(proposal: &Proposal, entry: &Entry, cut: bool) -> Decision {
    if is_unchanged(proposal, entry) {
        return decide_unchanged(entry.state);
    }
    let (title, text) = read_as(proposal, &entry.reading);
    let worded = !(title.is_empty() && text.is_empty());
    match entry.state {
        State::Rejected => Decision::Rejected { how: How::Ticked },
        // The last line of half a page may be half a line; ticking a line without words says nothing.
        _ if cut || !worded => Decision::Pending,
        State::Approved => Decision::ApprovedEdited { title, text },
        State::Pending => Decision::EditedPending { title, text },
    }
}

/// The scope that a line names, also if a note touches it from below.
fn scope_of(proposal: &Proposal, entry: &Entry) -> Option<Scope> {
    let shorter = entry.shorter.as_ref().filter(|_| is_noted_below(proposal, entry));
    shorter.map_or_else(|| entry.scope.clone(), |shorter| shorter.scope.clone())
}

fn decide_unchanged(state: State) -> Decision {
    match state {
        State::Approved => Decision::Approved,
        State::Rejected => Decision::Rejected { how: How::Ticked },
        State::Pending => Decision::Pending,
    }
}

/// Whether the line still says what was proposed: wrapping, emphasis and the dash may differ, words may not.
pub(super) fn is_unchanged(proposal: &Proposal, entry: &Entry) -> bool {
    says(proposal, &entry.reading) || is_noted_below(proposal, entry)
}

/// Whether the line itself is unchanged, and what touches it from below is a note.
pub(super) fn is_noted_below(proposal: &Proposal, entry: &Entry) -> bool {
    entry.shorter.as_ref().is_some_and(|shorter| says(proposal, shorter))
}

fn says(proposal: &Proposal, reading: &Reading) -> bool {
    let (title, text) = read_as(proposal, reading);
    flat(&title) == flat(&proposal.title) && flat(&text) == flat(&proposal.text)
}

/// Title and text of a line, given the title it had: that tells where it ends when its emphasis is lost.
fn read_as(proposal: &Proposal, reading: &Reading) -> (String, String) {
    let lost = || {
        let rest = flat(&reading.whole).strip_prefix(&flat(&proposal.title))?.to_owned();
        let dash = after_dash(&rest).or_else(|| rest.is_empty().then_some(""))?;
        // The words themselves, with their own lines.
        let text = reading.whole.get(reading.whole.len().checked_sub(dash.trim().len())?..);
        let kept = text.filter(|text| flat(text) == flat(dash)).unwrap_or(dash);
        Some((proposal.title.clone(), kept.trim().to_owned()))
    };
    if flat(&reading.title) == flat(&proposal.title) || proposal.title.is_empty() {
        return (reading.title.clone(), reading.text.clone());
    }
    lost().unwrap_or_else(|| (reading.title.clone(), reading.text.clone()))
}

/// The checkbox of a line that lost its id and nothing else.
fn without_id(proposal: &Proposal, page: &Parsed) -> Option<State> {
    page.loose.iter().find(|(_, reading)| says(proposal, reading)).map(|(state, _)| *state)
}

/// Whether the page still has the proposal in some form we do not understand.
fn is_mentioned(proposal: &Proposal, page: &Parsed, text: &str) -> bool {
    let words = if proposal.text.is_empty() { &proposal.title } else { &proposal.text };
    let noted = |range: &std::ops::Range<usize>| flat(&text[range.clone()]).contains(&flat(words));
    text.contains(&proposal.id.to_string()) || !words.is_empty() && page.notes.iter().any(noted)
}

fn flat(text: &str) -> String {
    tidy_line(text)
}
