//! `REVIEW.md` as a view of the store (REV-04) and as an input for decisions (REV-03). The store remembers
//! the content of each written page, to compare it with the person's edits.

use std::collections::{HashMap, HashSet};

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::time::{Timestamp, Zoned};
use rekindle_core::knowledge::proposal::Proposal;
use rekindle_core::knowledge::proposal::rebase::{RebaseOutcome, rebase_proposal};
use rekindle_core::knowledge::proposal::review_priority::{FoldedProposal, rank_proposals, select_asked};
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout;
use rekindle_core::vault::review::{self, PageDecision, ProposalId, ReviewPage, ShownPage, diff};
use thiserror::Error;

use crate::jobs::queue::FunctionRegistry;
use crate::platform::db::{self, Database, OptionalExtension, params};
use crate::review::proposals::{self, DecisionOutcome, ProposalRecord, ProposalVerdict};
use crate::vault::{self, Amendment, ReviewPageOutcome, Vault};

/// The number of pages to remember: sync may restore a copy that is a few versions old.
const MAX_KEPT_PAGES: i64 = 20;

/// The reason the page could not be written or read.
#[derive(Debug, Error)]
pub enum Error {
    /// The store could not be read or written.
    #[error(transparent)]
    Db(#[from] db::Error),
    /// The vault could not be read or written.
    #[error(transparent)]
    Vault(#[from] vault::Error),
}

/// The open proposals, split by the daily limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReviewQueue {
    /// The proposals of today, the most valuable first, each with its duplicates.
    pub today: Vec<(ProposalRecord, Vec<ProposalId>)>,
    /// The proposals that wait behind them.
    pub later: Vec<(ProposalRecord, Vec<ProposalId>)>,
}

/// Splits the queue into today's proposals and the rest (B-07).
pub fn asked_today(db: &Database, per_day: usize, now: &Zoned) -> Result<ReviewQueue, db::Error> {
    let standings = proposals::list_proposals(db, true)?;
    let open: Vec<Proposal> = standings.iter().map(|record| record.proposal.clone()).collect();
    let on_page = ids_on_page(db)?;
    let day_began = now.start_of_day().map_or(now.timestamp(), |day| day.timestamp());
    let decided = proposals::decided_since(db, day_began)?;
    let ranked = rank_proposals(&open, &on_page, now.timestamp());
    let today = select_asked(&ranked, &on_page, per_day, decided);
    let shown: HashSet<ProposalId> = today.iter().map(|folded| folded.proposal.id).collect();
    let find = |folded: &FoldedProposal<'_>| {
        let record = standings.iter().find(|record| record.proposal.id == folded.proposal.id)?;
        Some((record.clone(), folded.duplicates.clone()))
    };
    Ok(ReviewQueue {
        today: today.iter().filter_map(find).collect(),
        later: ranked.iter().filter(|folded| !shown.contains(&folded.proposal.id)).filter_map(find).collect(),
    })
}

/// The ids of the proposals on the current page.
pub fn ids_on_page(db: &Database) -> Result<HashSet<ProposalId>, db::Error> {
    Ok(known(db)?.last().map(|page| page.proposals.iter().map(|one| one.id).collect()).unwrap_or_default())
}

/// Updates open proposals whose target section or line of MEMORY.md moved (B-07). Returns those with a lost
/// target, and the reason.
pub fn rebase_proposals(db: &mut Database, vault: &Vault) -> Result<HashMap<ProposalId, String>, Error> {
    let memory = vault.read(&ChangedFile::vault(layout::fixed_path(layout::MEMORY)))?;
    let memory = memory.map(|note| note.text).unwrap_or_default();
    let all = proposals::all_proposals(db)?;
    let meant_for = target_section(&all);
    let mut lost = HashMap::new();
    for proposal in all.iter().filter(|proposal| proposal.status.is_open()) {
        if proposal.section().is_none() {
            let Proposal { text, supersedes, .. } = proposal;
            let new = Amendment { proposal, statement: text, supersedes: supersedes.as_deref() };
            if let Err(error) = vault.preview_amendment(&new) {
                lost.insert(proposal.id, error.to_string());
            }
            continue;
        }
        match rebase_proposal(proposal, &memory, &meant_for) {
            RebaseOutcome::Same => {}
            RebaseOutcome::Moved(moved) => {
                proposals::retarget(db, &moved)?;
            }
            RebaseOutcome::Lost(why) => {
                lost.insert(proposal.id, why);
            }
        }
    }
    Ok(lost)
}

/// Looks up the target section of a promoted proposal.
pub fn target_section(all: &[Proposal]) -> impl Fn(ProposalId) -> Option<String> {
    move |id| {
        let known = all.iter().find(|known| known.id == id)?;
        let named = matches!(known.place, review::ProposalPlace::Section(_)) || known.target.is_some();
        known.section().filter(|_| named).map(str::to_owned)
    }
}

/// Rewrites the page to match the store.
pub fn refresh_page(
    db: &mut Database,
    vault: &Vault,
    reviewer: &str,
    per_day: usize,
    by: ChangeActor,
    now: &Zoned,
) -> Result<ReviewPageOutcome, Error> {
    // A database that lost its proposals must not replace the copy.
    proposals::restore_if_lost(db, &vault.places)?;
    proposals::save_copy(db, &vault.places)?;
    rebase_proposals(db, vault)?;
    let asked = asked_today(db, per_day, now)?;
    let queue = ReviewPage {
        reviewer: reviewer.to_owned(),
        date: now.date(),
        updated: now.timestamp(),
        proposals: asked.today.iter().map(|(record, _)| line(record)).collect(),
        later: asked.later.len(),
    };
    let later: Vec<review::ListedProposal> = asked.later.iter().map(|(record, _)| line(record)).collect();
    vault.show_waiting(&later, proposals::machine_id(db)?, by, now)?;
    let known = known(db)?;
    if queue.proposals.is_empty() && known.is_empty() {
        // No page is created for an empty queue.
        return Ok(ReviewPageOutcome::Unchanged);
    }
    let mut remember =
        |shown: &ShownPage| save_shown_page(db, shown, now.timestamp()).map_err(std::io::Error::other);
    Ok(vault.show_review(&queue, &known, &mut remember, by, now)?)
}

fn line(record: &ProposalRecord) -> review::ListedProposal {
    let proposal = &record.proposal;
    review::ListedProposal {
        id: proposal.id,
        place: proposal.place.clone(),
        title: proposal.title.clone(),
        text: record.worded.clone().unwrap_or_else(|| proposal.text.clone()),
        // A proposal to widen the scope is not tied to its own project.
        project: proposal.project.clone().filter(|_| proposal.section().is_some()),
    }
}

/// The decisions read from the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageDecisions {
    /// The proposals decided on it, with the result of each.
    pub decided: Vec<(ProposalId, DecisionOutcome)>,
    /// The reason to ignore the whole page.
    pub doubt: Option<String>,
}

/// Reads a person's decisions from the page if it changed since the last read. Ambiguous edits decide
/// nothing: `review` and `doctor` report them until the page changes.
pub fn read_decisions(
    db: &mut Database,
    registry: &FunctionRegistry,
    vault: &Vault,
    now: Timestamp,
) -> Result<PageDecisions, Error> {
    let Some(page) = vault.read(&ChangedFile::vault(layout::fixed_path(layout::REVIEW)))? else {
        return Ok(PageDecisions::default());
    };
    let hash = page.hash.to_string();
    let (seen, doubt) = last_seen_page(db)?.unzip();
    if seen.as_ref() == Some(&hash) {
        return Ok(PageDecisions { decided: Vec::new(), doubt: doubt.flatten() });
    }
    let known = known(db)?;
    let Some(shown) = known.last() else { return Ok(PageDecisions::default()) };
    let decisions = match diff(shown, &page.text) {
        Ok(decisions) => decisions,
        Err(doubt) => {
            let doubt = Some(doubt.to_string());
            mark_page_seen(db, &hash, doubt.as_deref(), now)?;
            return Ok(PageDecisions { decided: Vec::new(), doubt });
        }
    };
    let mut decided = Vec::new();
    for one in decisions.decided {
        let verdict = match one.decision {
            PageDecision::Approved => ProposalVerdict::Approve,
            PageDecision::ApprovedEdited { title, text } => {
                ProposalVerdict::Edit(if text.is_empty() { title } else { text })
            }
            PageDecision::Rejected { .. } => ProposalVerdict::Reject,
            PageDecision::Pending | PageDecision::EditedPending { .. } => continue,
        };
        let scope = one.scope.as_ref();
        decided.push((
            one.id,
            proposals::decide_with_scope(db, registry, one.id, &verdict, scope, DecidedBy::Page, now)?,
        ));
    }
    // Last, because a crash before this only reads the page again and decides nothing twice.
    mark_page_seen(db, &hash, None, now)?;
    Ok(PageDecisions { decided, doubt: None })
}

/// The hash of the page read last, and the reason it was ignored.
fn last_seen_page(db: &Database) -> Result<Option<(String, Option<String>)>, db::Error> {
    db.run(|connection| {
        connection
            .query_row("SELECT hash, doubt FROM review_seen", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()
    })
}

/// The reason the page read last was ignored.
pub fn page_doubt(db: &Database) -> Result<Option<String>, db::Error> {
    Ok(last_seen_page(db)?.and_then(|(_, doubt)| doubt))
}

fn mark_page_seen(
    db: &mut Database,
    hash: &str,
    doubt: Option<&str>,
    now: Timestamp,
) -> Result<(), db::Error> {
    db.change(|transaction| {
        transaction.execute(
            "INSERT INTO review_seen VALUES (1, ?1, ?2, ?3)
             ON CONFLICT (one) DO UPDATE SET hash = ?1, at = ?2, doubt = ?3",
            params![hash, now.as_millisecond(), doubt],
        )
    })?;
    Ok(())
}

/// The contents of all written pages, the newest last.
pub fn known(db: &Database) -> Result<Vec<ShownPage>, db::Error> {
    let rows: Vec<String> = db.run(|connection| {
        let mut rows = connection.prepare("SELECT shown FROM review_pages ORDER BY number")?;
        rows.query_map([], |row| row.get(0))?.collect()
    })?;
    // An unreadable page (its text was forgotten) counts as unknown.
    Ok(rows.iter().filter_map(|row| serde_json::from_str(row).ok()).collect())
}

/// Remembers the content of a page as the newest.
fn save_shown_page(db: &mut Database, shown: &ShownPage, now: Timestamp) -> Result<(), db::Error> {
    let json = serde_json::to_string(shown).map_err(|error| db.corrupt_value(error.to_string()))?;
    db.change(|transaction| {
        let last: i64 =
            transaction
                .query_row("SELECT coalesce(max(number), 0) FROM review_pages", [], |row| row.get(0))?;
        transaction.execute(
            "INSERT INTO review_pages (number, version, at, shown) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (version) DO UPDATE SET number = ?1, at = ?3, shown = ?4",
            params![last + 1, shown.version, now.as_millisecond(), json],
        )?;
        transaction.execute("DELETE FROM review_pages WHERE number <= ?1", [last + 1 - MAX_KEPT_PAGES])
    })?;
    Ok(())
}
