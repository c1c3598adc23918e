//! `promote` (EXE-05): carries out decisions. It writes approved proposals to MEMORY.md, logs every end in
//! the daily log, and expires old proposals on schedule. Every step is idempotent.

mod apply;
mod preview;
mod receipts;
mod reverse_decision;
#[cfg(test)]
pub(super) mod tests;
mod undone_promotions;

use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::scope::ProjectId;
use rekindle_core::event::{Event, FixCompleted, ProposalDecided, names};
use rekindle_core::knowledge::proposal::rebase::{RebaseOutcome, rebase_proposal};
use rekindle_core::knowledge::proposal::{Proposal, ProposalStatus};
use rekindle_core::text::normalise::normalise;
use rekindle_core::vault::journal;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::layout;
use rekindle_core::vault::memory::{StatementMark, StatementOutcome, sections, user_section};
use rekindle_core::vault::review::ProposalId;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{STAGE_REGISTRY, share};
use crate::jobs::context::StageContext;
use crate::jobs::queue::{FunctionOutcome, RunInterrupt, StepError, StepRunner, StepRunnerExt};
use crate::platform::db::Database;
use crate::review::page::{self, PageDecisions};
use crate::review::patches;
use crate::review::proposals::{self, ProposalChange, ProposalRecord, ProposalVerdict};
use crate::vault::{self, Promotion, ReviewPageOutcome, Vault};
use undone_promotions::promotion_changes;

pub use apply::{PatchLookup as PatchLook, PreparedPatch, apply, prepare_patch};
pub use preview::{ApprovalEffect, ApprovalPreview, preview_approval};
pub use reverse_decision::{ReconsiderOutcome, reverse_decision};
pub use undone_promotions::reverse_undone_promotions;

/// The name of the function in the registry.
pub const PROMOTE: &str = "promote";
/// The key of scheduled runs, which run one at a time.
const EXPIRY_KEY: &str = "expire";

/// The key of a run: decisions on one proposal run one at a time.
pub fn key(event: &Event) -> Option<String> {
    let id = event.data.get("proposalId").and_then(Value::as_str);
    Some(id.unwrap_or(EXPIRY_KEY).to_owned())
}

pub(super) fn promote(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    match event.name.as_str() {
        names::PROPOSAL_APPROVED => approved(event, steps, context),
        names::PROPOSAL_REJECTED => rejected(event, steps, context),
        names::FRICTION_FIX_COMPLETED => mark_carried_out(event, steps, context),
        _ => expire(steps, context),
    }
}

/// The status of a proposal at the start of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoadedProposal {
    id: ProposalId,
    /// The reason to skip the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    skip: Option<String>,
}

/// Loads the proposal; if it is open, an event from outside decides on it (REV-06).
fn load(
    event: &Event,
    verdict: &ProposalVerdict,
    context: &StageContext,
) -> Result<LoadedProposal, StepError> {
    let ProposalDecided { proposal_id: id, by } =
        ProposalDecided::deserialize(&event.data).map_err(StepError::fatal)?;
    let mut db = context.db()?;
    let record = proposals::find_proposal(&db, id)?;
    // It may have a new id since the decision.
    let id = record.as_ref().map_or(id, |record| record.proposal.id);
    let skip = match record {
        None => Some(format!("there is no proposal {id}")),
        Some(record) if record.proposal.status.is_open() && record.reopened > Some(event.at) => {
            Some(format!("{id} was reopened since"))
        }
        Some(record) if record.proposal.status.is_open() => {
            // An outside event cannot decide as triage or the schedule.
            let by = if by.is_person() { by } else { DecidedBy::Event };
            // The decision sends an event of its own, whose run does the rest.
            proposals::decide(&mut db, &STAGE_REGISTRY, id, verdict, by, context.now().timestamp())?;
            Some(format!("{id} is decided now"))
        }
        // The run of the proposal that was decided on handles it.
        Some(ProposalRecord { decided_with: Some(with), .. }) => Some(format!("{id} ended with {with}")),
        Some(record) => {
            let status = record.proposal.status;
            let fits = match verdict {
                ProposalVerdict::Reject | ProposalVerdict::RejectFor(_) => status == ProposalStatus::Rejected,
                _ => matches!(
                    status,
                    ProposalStatus::Approved | ProposalStatus::Edited | ProposalStatus::Promoted
                ),
            };
            (!fits).then(|| format!("{id} was {} before", status.as_str()))
        }
    };
    Ok(LoadedProposal { id, skip })
}

/// The outcome of an approved proposal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PromotionResult {
    /// Its place in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<StatementOutcome>,
    /// True if a line was superseded; `None` if none was meant to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced: Option<bool>,
    /// The id of the change, for `rekindle undo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<String>,
    /// The reason it could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    /// The file that the person has to change (IDN-05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patch: Option<String>,
}

impl PromotionResult {
    /// Creates an outcome without a change of our own.
    fn without_change(
        outcome: Option<StatementOutcome>,
        refused: Option<String>,
        patch: Option<String>,
    ) -> Self {
        Self { outcome, replaced: None, change: None, refused, patch }
    }
}

fn approved(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let loaded = steps.run("load-proposal", || load(event, &ProposalVerdict::Approve, context))?;
    if let Some(why) = loaded.skip {
        return Ok(FunctionOutcome::Skipped(why));
    }
    let id = loaded.id;
    if let Some(why) = held_back(id, steps, context)? {
        return Ok(FunctionOutcome::Skipped(why));
    }
    let written = steps.run("write-memory", || write(id, context))?;
    if let Some(why) = &written.refused {
        // The decision stands; the proposal waits until MEMORY.md can take it, with the reason.
        steps.run("reopen", || {
            let mut db = context.db()?;
            let (ids, from) = (with_followers(&db, id)?, [ProposalStatus::Approved, ProposalStatus::Edited]);
            Ok(proposals::reopen(
                &mut db,
                &ids,
                &from,
                ProposalChange::Reopened,
                why,
                context.now().timestamp(),
            )?)
        })?;
    } else if written.patch.is_none() {
        steps.run("mark-promoted", || {
            let mut db = context.db()?;
            let ids = with_followers(&db, id)?;
            Ok(proposals::mark_promoted(&mut db, &ids, context.now().timestamp())?)
        })?;
        steps.run("append-receipt", || receipts::write(context))?;
    }
    let page = steps.run("refresh-page", || refresh_page(context))?;
    let mut report = serde_json::to_value(&written).map_err(|error| RunInterrupt::Failed {
        step: "report".to_owned(),
        error: StepError::fatal(error),
    })?;
    report["proposal"] = json!(id);
    report["page"] = json!(page);
    Ok(FunctionOutcome::Completed(report))
}

/// The reason not to carry out a decision, if other machines share the proposals (B-16).
fn held_back(
    id: ProposalId,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<Option<String>, RunInterrupt> {
    match context.is_shared() {
        true => steps.run("ask-other-machines", || share::hold_decision(id, context)),
        false => Ok(None),
    }
}

/// A proposal and those decided together with it.
fn with_followers(db: &Database, id: ProposalId) -> Result<Vec<ProposalId>, StepError> {
    let id = proposals::find_proposal(db, id)?.map_or(id, |record| record.proposal.id);
    let followers = proposals::ended_with(db, id)?.into_iter().map(|record| record.proposal.id);
    Ok(std::iter::once(id).chain(followers).collect())
}

/// Writes an approved proposal to its target. A document that cannot take it is not a retryable error.
fn write(id: ProposalId, context: &StageContext) -> Result<PromotionResult, StepError> {
    let Some(record) = proposals::find_proposal(&context.db()?, id)? else {
        return Err(StepError::fatal(format!("{id} was forgotten")));
    };
    let vault = context.vault()?;
    let by = match record.by {
        Some(DecidedBy::Triage) => ChangeActor::Worker,
        Some(DecidedBy::Agent) => ChangeActor::Agent,
        _ => ChangeActor::User,
    };
    let Some(section) = current_section(&record, &vault, context)? else {
        return amend(&record, by, &vault, context);
    };
    let (mark, supersedes) = (mark(&record, &vault)?, record.superseded_line());
    let new = promotion(&record, &section, &mark);
    match vault.promote(&context.config.user.name, &new, by, &context.now()) {
        Ok(added) => Ok(PromotionResult {
            outcome: Some(added.outcome.outcome),
            replaced: supersedes.map(|_| added.outcome.replaced),
            change: added.change.map(|change| change.to_string()),
            refused: None,
            patch: None,
        }),
        Err(error) => refused(error),
    }
}

/// Converts an error: a document that cannot take the line refuses it; any other error is retryable.
fn refused(error: vault::Error) -> Result<PromotionResult, StepError> {
    match error {
        vault::Error::Structure { .. }
        | vault::Error::Document { .. }
        | vault::Error::NotText { .. }
        | vault::Error::NotFound(_)
        | vault::Error::Misspelt { .. }
        | vault::Error::Archived(_)
        | vault::Error::NoIdea(_)
        | vault::Error::NoFolder(_)
        | vault::Error::Exists(_)
        | vault::Error::Ambiguous { .. }
        | vault::Error::TooLarge { .. }
        | vault::Error::NotAFile(_) => {
            Ok(PromotionResult::without_change(None, Some(error.to_string()), None))
        }
        error => Err(StepError::retryable(error)),
    }
}

/// Turns an idea into a project (IDEA-05) or gives a memory a new version. An identity file stays unchanged
/// and gets a patch for the person (IDN-05).
fn amend(
    record: &ProposalRecord,
    by: ChangeActor,
    vault: &Vault,
    context: &StageContext,
) -> Result<PromotionResult, StepError> {
    if let Some(slug) = record.proposal.idea_slug() {
        let about = Some(record.proposal.id.to_string());
        return match vault.promote_idea_for(slug, about, by, &context.now()) {
            Ok(_) => Ok(PromotionResult::without_change(Some(StatementOutcome::Appended), None, None)),
            Err(vault::Error::Decided(_)) => {
                Ok(PromotionResult::without_change(Some(StatementOutcome::AlreadyThere), None, None))
            }
            Err(error) => refused(error),
        };
    }
    if record.proposal.global_entry().is_some() {
        return match vault.make_global(&record.proposal, by, &context.now()) {
            Ok(true) => Ok(PromotionResult::without_change(Some(StatementOutcome::Appended), None, None)),
            Ok(false) => {
                Ok(PromotionResult::without_change(Some(StatementOutcome::AlreadyThere), None, None))
            }
            Err(error) => refused(error),
        };
    }
    let new = patches::amendment(record);
    let Some(file) = record.proposal.identity() else {
        return match vault.amend_entry(&new, by, &context.now()) {
            Ok(true) => Ok(PromotionResult::without_change(Some(StatementOutcome::Appended), None, None)),
            Ok(false) => {
                Ok(PromotionResult::without_change(Some(StatementOutcome::AlreadyThere), None, None))
            }
            Err(error) => refused(error),
        };
    };
    match vault.preview_amendment(&new) {
        Ok(amended) if amended.is_there() => {
            Ok(PromotionResult::without_change(Some(StatementOutcome::AlreadyThere), None, None))
        }
        Ok(_) => Ok(PromotionResult::without_change(None, None, Some(file.to_owned()))),
        Err(error) => refused(error),
    }
}

/// The mark after its line.
fn mark(record: &ProposalRecord, vault: &Vault) -> Result<StatementMark, StepError> {
    let Proposal { id, origin, .. } = record.proposal;
    Ok(StatementMark { id: Some(id.to_string()), origin, project: target_project(record, vault)? })
}

/// Builds the vault's instruction for a proposal.
fn promotion<'a>(record: &'a ProposalRecord, section: &'a str, mark: &'a StatementMark) -> Promotion<'a> {
    let said = record.proposal.evidence.said;
    Promotion { section, statement: record.text(), supersedes: record.superseded_line(), mark, said_at: said }
}

/// The project in which its line will hold; `None` means everywhere. Without a choice of the person it
/// is the project of the statement, or of the superseded line.
pub fn target_project(record: &ProposalRecord, vault: &Vault) -> Result<Option<ProjectId>, StepError> {
    if let Some(scope) = &record.scope {
        return Ok(scope.project().cloned());
    }
    let Some(old) = record.superseded_line() else { return Ok(record.proposal.project.clone()) };
    let memory = vault.read(&journal::ChangedFile::vault(layout::fixed_path(layout::MEMORY)));
    let memory = memory.map_err(StepError::retryable)?.map(|note| note.text).unwrap_or_default();
    let sections = sections(&memory).unwrap_or_default();
    let mut lines = sections.iter().flat_map(|section| &section.items);
    let old = lines.find(|item| item.superseded.is_none() && normalise(&item.text) == normalise(old));
    Ok(old.map_or_else(|| record.proposal.project.clone(), |old| old.project.clone()))
}

/// The target section of MEMORY.md, under its current name (B-07); `None` for another file. It supersedes
/// only the line that was shown.
fn current_section(
    record: &ProposalRecord,
    vault: &Vault,
    context: &StageContext,
) -> Result<Option<String>, StepError> {
    let section = |proposal: &Proposal| proposal.section().map(str::to_owned);
    let memory = vault.read(&journal::ChangedFile::vault(layout::fixed_path(layout::MEMORY)));
    let memory = memory.map_err(StepError::retryable)?.map(|note| note.text).unwrap_or_default();
    let all = proposals::all_proposals(&context.db()?)?;
    Ok(match rebase_proposal(&record.proposal, &memory, &page::target_section(&all)) {
        RebaseOutcome::Moved(moved) => section(&moved),
        RebaseOutcome::Same | RebaseOutcome::Lost(_) => section(&record.proposal),
    })
}

fn rejected(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let loaded = steps.run("load-proposal", || load(event, &ProposalVerdict::Reject, context))?;
    if let Some(why) = loaded.skip {
        return Ok(FunctionOutcome::Skipped(why));
    }
    if let Some(why) = held_back(loaded.id, steps, context)? {
        return Ok(FunctionOutcome::Skipped(why));
    }
    let archived = steps.run("put-away", || archive_rejected(loaded.id, context))?;
    steps.run("append-receipt", || receipts::write(context))?;
    let page = steps.run("refresh-page", || refresh_page(context))?;
    Ok(FunctionOutcome::Completed(json!({"proposal": loaded.id, "archived": archived, "page": page})))
}

/// Archives the memory of a rejected statement. Rejecting a wider scope leaves the memory in its project;
/// proposals that no person decided are left alone.
fn archive_rejected(id: ProposalId, context: &StageContext) -> Result<Vec<String>, StepError> {
    let Some(record) = proposals::find_proposal(&context.db()?, id)? else { return Ok(Vec::new()) };
    let ProposalRecord { proposal, by, .. } = &record;
    let by = match by {
        Some(DecidedBy::Agent) => ChangeActor::Agent,
        Some(by) if by.is_person() => ChangeActor::User,
        _ => return Ok(Vec::new()),
    };
    if proposal.status != ProposalStatus::Rejected || proposal.global_entry().is_some() {
        return Ok(Vec::new());
    }
    let (db, vault) = (context.db()?, context.vault()?);
    let mut archived = Vec::new();
    // Duplicates say the same in other words.
    for id in with_followers(&db, id)? {
        let Some(one) = proposals::find_proposal(&db, id)? else { continue };
        let paths =
            vault.archive_rejected(&one.proposal, by, &context.now()).map_err(StepError::retryable)?;
        archived.extend(paths.iter().map(ToString::to_string));
    }
    Ok(archived)
}

/// Handles the report of another program that it carried out a proposal (FRI-09). The file decides if that is
/// true.
fn mark_carried_out(
    event: &Event,
    steps: &mut dyn StepRunner,
    context: &StageContext,
) -> Result<FunctionOutcome, RunInterrupt> {
    let status = steps.run("look-at-file", || {
        let FixCompleted { proposal_id } =
            FixCompleted::deserialize(&event.data).map_err(StepError::fatal)?;
        reverse_undone_promotions(context)?;
        let record = proposals::find_proposal(&context.db()?, proposal_id)?;
        Ok((proposal_id, record.map(|record| record.proposal.status)))
    })?;
    match status {
        (id, None) => Ok(FunctionOutcome::Skipped(format!("there is no proposal {id}"))),
        (id, Some(ProposalStatus::Promoted)) => {
            let page = steps.run("refresh-page", || refresh_page(context))?;
            Ok(FunctionOutcome::Completed(json!({"proposal": id, "page": page})))
        }
        (id, Some(ProposalStatus::Approved | ProposalStatus::Edited)) => {
            Ok(FunctionOutcome::Skipped(format!("the file does not contain the change of {id} yet")))
        }
        (id, Some(status)) => {
            Ok(FunctionOutcome::Skipped(format!("{id} is {}, not approved", status.as_str())))
        }
    }
}

/// Expires proposals that waited too long (REV-10).
fn expire(steps: &mut dyn StepRunner, context: &StageContext) -> Result<FunctionOutcome, RunInterrupt> {
    // This includes changes undone while the store was out of reach.
    let undone = steps.run("take-back", || reverse_undone_promotions(context))?;
    let days = context.config.review.expire_days;
    let due = steps.run("find-old", || {
        let (mut db, now) = (context.db()?, context.now().timestamp());
        let mut due = proposals::due_for_expiry(&db, days, now)?;
        if context.is_shared() {
            // Each machine expires its own; those of a machine that is gone expire later.
            let (own, late) =
                (proposals::own_machine(&mut db)?, proposals::due_for_expiry(&db, days * 2, now)?);
            due.retain(|id| id.machine.is_none_or(|machine| machine == own) || late.contains(id));
        }
        Ok(due)
    })?;
    let expired: Vec<ProposalId> = steps.run("expire", || {
        let mut db = context.db()?;
        let mut expired = Vec::new();
        for id in &due {
            if proposals::expire(&mut db, *id, days, context.now().timestamp())? {
                expired.push(*id);
            }
        }
        Ok(expired)
    })?;
    steps.run("append-receipts", || receipts::write(context))?;
    // A new day has a new share, even if nothing expired.
    let page = steps.run("refresh-page", || refresh_page(context))?;
    Ok(FunctionOutcome::Completed(json!({"expired": expired, "undone": undone, "page": page})))
}

/// Marks proposals as promoted, whoever wrote them.
fn found_promoted(ids: &[ProposalId], context: &StageContext) -> Result<(), StepError> {
    proposals::mark_promoted(&mut context.db()?, ids, context.now().timestamp())?;
    receipts::try_write(context);
    Ok(())
}

/// Refreshes the review page. A page that the person must repair stays; the store has everything.
pub(super) fn refresh_page(context: &StageContext) -> Result<String, StepError> {
    let user = user_section(&context.config.user.name);
    let per_day = context.config.review.per_day;
    patches::refresh_folder(&context.db()?, &context.vault()?, &context.places.patches_folder())
        .map_err(StepError::retryable)?;
    let shown = page::refresh_page(
        &mut context.db()?,
        &context.vault()?,
        &user,
        per_day,
        ChangeActor::Worker,
        &context.now(),
    );
    Ok(match shown.map_err(StepError::retryable)? {
        ReviewPageOutcome::Written(_) => "written".to_owned(),
        ReviewPageOutcome::Unchanged => "unchanged".to_owned(),
        ReviewPageOutcome::Left(why) => format!("not changed: {why}"),
    })
}

/// Takes in a person's work: decisions on the page (REV-03), whose runs are then queued, applied patches, and
/// changes reverted with `rekindle undo`.
pub fn read_review_decisions(context: &StageContext) -> Result<PageDecisions, StepError> {
    let (mut db, vault) = (context.db()?, context.vault()?);
    // An unreadable page must not block facts, nor an unwritable log the page.
    apply::record_applied(context)?;
    let was_cut_off = receipts::try_write(context);
    let waits_again = undone_promotions::record_undone(context)?;
    let look = page::read_decisions(&mut db, &STAGE_REGISTRY, &vault, context.now().timestamp())
        .map_err(StepError::retryable)?;
    if was_cut_off || waits_again {
        refresh_page(context)?;
    }
    Ok(look)
}
