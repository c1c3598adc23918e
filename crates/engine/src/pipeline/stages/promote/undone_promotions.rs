//! Finds promotions that `rekindle undo` reverted. The journal is the authority, even if a crash kept the
//! store from knowing.

use std::collections::{BTreeMap, HashSet};

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::time;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::journal::{FileOperation, VaultChange};
use rekindle_core::vault::review::ProposalId;

use super::{apply, found_promoted, receipts};
use crate::jobs::context::StageContext;
use crate::jobs::queue::StepError;
use crate::platform::db::Database;
use crate::review::proposals::{self, ProposalChange, ProposalRecord};
use crate::vault::{self, PROMOTE_VERB, REJECT_VERB, Vault};

/// The note of a proposal whose promotion was reverted.
const PROMOTION_UNDONE_REASON: &str = "its promotion was taken back with `rekindle undo`";
/// The note of a proposal whose rejection was reverted.
const REJECTION_UNDONE_REASON: &str = "the memory it would have ended was brought back with `rekindle undo`";
/// The number of changes read repeatedly before the position is stored.
const MAX_REPEATED_CHANGES: usize = 64;

/// Updates the store with the changes undone since the last read of the journal. Returns true if a proposal
/// is open again.
pub(super) fn record_undone(context: &StageContext) -> Result<bool, StepError> {
    let mut db = context.db()?;
    let seen = proposals::last_seen_change(&db)?;
    let (mut newest, mut count, mut is_undone) = (None, 0, false);
    for record in context.vault()?.changes().map_err(StepError::retryable)? {
        let record = record.map_err(StepError::retryable)?;
        if seen.as_deref() == Some(record.change.id.as_str()) {
            break;
        }
        count += 1;
        is_undone |= record.change.undoes.is_some();
        // The next writer recovers a change that a crash interrupted.
        if newest.is_none() && record.outcome != vault::ChangeOutcome::Pending {
            newest = Some(record.change.id);
        }
    }
    let waits_again = is_undone && !reverse_undone_promotions(context)?.is_empty();
    if let Some(newest) = newest.filter(|_| is_undone || count >= MAX_REPEATED_CHANGES) {
        proposals::mark_seen(&mut db, &newest)?;
    }
    Ok(waits_again)
}

/// Updates the store with the promotions that `rekindle undo` reverted or redid. The journal is the
/// authority, so this may be called at any time. Returns the reopened proposals.
pub fn reverse_undone_promotions(context: &StageContext) -> Result<Vec<ProposalId>, StepError> {
    let Some(mut db) = Database::open_existing(&context.places.database())? else { return Ok(Vec::new()) };
    apply::record_applied(context)?;
    let in_force = promotion_changes(&context.vault()?).map_err(StepError::retryable)?;
    let (mut undone, mut again) = (Vec::new(), Vec::new());
    for ProposalRecord { proposal, decided_with: with, .. } in proposals::list_proposals(&db, false)? {
        // A proposal decided together with another has no line of its own.
        match in_force.get(&with.unwrap_or(proposal.id)) {
            Some((_, false)) if proposal.status == ProposalStatus::Promoted => undone.push(proposal.id),
            Some((_, true)) if proposal.status.is_open() => again.push(proposal.id),
            _ => {}
        }
    }
    found_promoted(&again, context)?;
    let now = context.now().timestamp();
    let mut waiting = proposals::reopen(
        &mut db,
        &undone,
        &[ProposalStatus::Promoted],
        ProposalChange::Undone,
        PROMOTION_UNDONE_REASON,
        now,
    )?;
    let kept = no_longer_rejected(&db, &context.vault()?)?;
    waiting.extend(proposals::reopen(
        &mut db,
        &kept,
        &[ProposalStatus::Rejected],
        ProposalChange::Undone,
        REJECTION_UNDONE_REASON,
        now,
    )?);
    receipts::try_write(context);
    Ok(waiting)
}

/// The rejected proposals whose memory `rekindle undo` restored: both belong together.
fn no_longer_rejected(db: &Database, vault: &Vault) -> Result<Vec<ProposalId>, StepError> {
    let mut found = Vec::new();
    for (id, (change, in_force)) in rejection_changes(vault).map_err(StepError::retryable)? {
        let standing =
            proposals::find_proposal(db, id)?.filter(|one| one.proposal.status == ProposalStatus::Rejected);
        let at = time::parse(&change.at);
        // A later rejection stands, even if it had nothing to archive.
        if !in_force
            && standing
                .is_some_and(|one| one.decided.is_none_or(|decided| at.is_some_and(|at| at >= decided)))
        {
            found.push(id);
        }
    }
    Ok(found)
}

/// The last change that archived a memory for each rejected proposal, and true if it still holds.
pub(super) fn rejection_changes(
    vault: &Vault,
) -> Result<BTreeMap<ProposalId, (VaultChange, bool)>, vault::Error> {
    let (mut undone, mut found) = (HashSet::new(), BTreeMap::new());
    for record in vault.changes()? {
        let record = record?;
        if record.outcome == vault::ChangeOutcome::Aborted {
            continue;
        }
        let in_force = !undone.contains(&record.change.id);
        undone.extend(record.change.undoes.clone().filter(|_| in_force));
        let about = record.change.about.as_deref().and_then(|id| id.parse::<ProposalId>().ok());
        if let Some(id) = about.filter(|_| record.change.verb == REJECT_VERB) {
            found.entry(id).or_insert((record.change, in_force));
        }
    }
    Ok(found)
}

/// The last change that promoted each proposal, and true if it still holds.
pub(super) fn promotion_changes(
    vault: &Vault,
) -> Result<BTreeMap<ProposalId, (ChangeId, bool)>, vault::Error> {
    let (mut undone, mut found) = (HashSet::new(), BTreeMap::new());
    for record in vault.changes()? {
        let record = record?;
        if record.outcome == vault::ChangeOutcome::Aborted {
            continue;
        }
        let in_force = !undone.contains(&record.change.id);
        let carries_out = record.change.verb == PROMOTE_VERB || record.change.about.is_some();
        if carries_out && record.change.verb != REJECT_VERB {
            let named = record.change.about.as_deref().and_then(|id| id.parse::<ProposalId>().ok());
            for id in ids(&record.change).into_iter().chain(named) {
                found.entry(id).or_insert_with(|| (record.change.id.clone(), in_force));
            }
        }
        // An undo that was itself undone no longer counts.
        undone.extend(record.change.undoes.filter(|_| in_force));
    }
    Ok(found)
}

/// The proposals that a change promoted.
fn ids(change: &VaultChange) -> Vec<ProposalId> {
    let words = |text: &str| -> Vec<ProposalId> {
        text.split_whitespace()
            .filter_map(|word| word.trim_start_matches('^').parse::<ProposalId>().ok())
            .collect()
    };
    let patches = change.ops.iter().filter_map(|op| match op {
        FileOperation::Edit { patch: Some(patch), .. } => Some(patch),
        _ => None,
    });
    let new = patches.flat_map(|patch| {
        let before = words(patch.removed());
        words(patch.inserted()).into_iter().filter(move |id| !before.contains(id))
    });
    new.collect()
}
