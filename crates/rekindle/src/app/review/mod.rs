//! Decides on proposals, for a command, a key or an agent.

pub(crate) mod describe;
pub(crate) mod patches;

use std::time::Duration;

use clap::Args;
use rekindle_core::base::decided_by::DecidedBy;
use rekindle_core::base::scope::Scope;
use rekindle_core::base::time::Timestamp;
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::jobs::worker_lock::{WorkerLock, run_now};
use rekindle_engine::pipeline::stages::promote::ReconsiderOutcome;
use rekindle_engine::pipeline::stages::{STAGE_REGISTRY, promote};
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals::{self, DecisionOutcome, ProposalVerdict};

use self::describe::{describe_outcome, outcome_with_author};
use super::CommandContext;
use crate::error::CliError;

/// The longest wait for a running worker. The decision is safe in the store; the worker carries it out.
pub(crate) const WORKER_TIMEOUT: Duration = Duration::from_secs(5);

/// True if anything may be written now.
pub(crate) fn may_write(context: &CommandContext<'_>) -> bool {
    context.settings.config.memory.enabled && !context.places.stop_file().exists()
}

/// The number of proposals that wait for the person.
pub(crate) fn waiting_count(context: &CommandContext<'_>) -> Result<u64, CliError> {
    let db = Database::open_existing(&context.places.database())?;
    Ok(db.map(|db| proposals::pending_count(&db)).transpose()?.map_or(0, |(count, _)| count))
}

/// Reads the decisions marked on the page. Returns the reason if the page is ambiguous and nothing was
/// decided.
pub(crate) fn read_page(context: &CommandContext<'_>) -> Result<Option<String>, CliError> {
    if !may_write(context) {
        return Ok(None);
    }
    let look = promote::read_review_decisions(&context.stage_context()).map_err(CliError::new)?;
    let new: Vec<ProposalId> = look
        .decided
        .iter()
        .filter(|(_, decided)| *decided == DecisionOutcome::Now)
        .map(|(id, _)| *id)
        .collect();
    if !new.is_empty() {
        context.writable_vault()?;
        run_promotions(context, &new)?;
    }
    Ok(look.doubt)
}

// A plain comment, because clap would take a doc comment for the command's description. `ScopeArgs` is the scope
// that the person gives an approved proposal.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct ScopeArgs {
    /// Apply it to every project
    #[arg(long)]
    pub(crate) everywhere: bool,
    /// Apply it only to the project where it was said
    #[arg(long, conflicts_with = "everywhere")]
    pub(crate) this_project: bool,
}

impl ScopeArgs {
    /// The scope for one proposal; `None` keeps the scope of the proposal.
    fn scope(
        self,
        context: &CommandContext<'_>,
        db: &Database,
        id: ProposalId,
    ) -> Result<Option<Scope>, CliError> {
        if !self.this_project {
            return Ok(self.everywhere.then_some(Scope::Global));
        }
        let own = proposals::find_proposal(db, id)?.and_then(|record| record.proposal.project);
        let here = own.or_else(|| context.project_id().cloned());
        let none = || {
            CliError::usage(format!("{id} belongs to no project, and this folder is not in one"))
                .hint("run the command in the project's folder, or omit --this-project")
        };
        here.map(|project| Some(Scope::Project(project))).ok_or_else(none)
    }
}

/// The outcome of deciding on some proposals.
pub(crate) struct DecideReport {
    /// The proposals with this decision, now or before.
    pub(crate) decided: Vec<ProposalId>,
    /// The other proposals, with the reason.
    pub(crate) wrong: Vec<(ProposalId, String)>,
    /// True if a running worker will carry the decision out.
    pub(crate) busy: bool,
}

/// Decides on proposals and carries the decisions out. One failure does not stop the others.
pub(crate) fn settle(
    context: &CommandContext<'_>,
    ids: &[ProposalId],
    verdict: &ProposalVerdict,
    reach: ScopeArgs,
    by: DecidedBy,
) -> Result<DecideReport, CliError> {
    context.writable_vault()?;
    // A decision on the page was made first.
    read_page(context)?;
    let mut db = Database::open(&context.places.database())?;
    let (mut open, mut wrong) = (Vec::new(), Vec::new());
    for id in ids {
        let scope = reach.scope(context, &db, *id)?;
        match proposals::decide_with_scope(
            &mut db,
            &STAGE_REGISTRY,
            *id,
            verdict,
            scope.as_ref(),
            by,
            context.now.timestamp(),
        )? {
            DecisionOutcome::Now | DecisionOutcome::Already(_) => open.push(*id),
            DecisionOutcome::Ended(record) => wrong.push((*id, outcome_with_author(context, &record))),
            DecisionOutcome::Refused(why) => wrong.push((*id, format!("{id} was not changed: {why}"))),
            DecisionOutcome::Unknown => wrong.push((*id, format!("there is no proposal {id}"))),
        }
    }
    let busy = !run_promotions(context, &open)?;
    Ok(DecideReport { decided: open, wrong, busy })
}

/// Decides on one proposal for an agent and returns the outcome in a sentence.
pub(crate) fn decide_for(
    context: &CommandContext<'_>,
    id: ProposalId,
    verdict: &ProposalVerdict,
    reach: ScopeArgs,
) -> Result<String, CliError> {
    let outcome = settle(context, &[id], verdict, reach, DecidedBy::Agent)?;
    if let Some((_, why)) = outcome.wrong.into_iter().next() {
        return Err(CliError::new(why).hint("list open proposals with `review_list`"));
    }
    let record = proposals::find_proposal(&Database::open(&context.places.database())?, id)?;
    let record = record.ok_or_else(|| CliError::new(format!("{id} was forgotten")))?;
    match record.note.as_ref().filter(|_| record.proposal.status.is_open()) {
        Some(note) => Err(CliError::new(format!("{id} could not be promoted and is pending again: {note}"))),
        None if outcome.busy => Ok(format!("{id} is decided; a running worker will write it")),
        None => Ok(describe_outcome(context, &record)),
    }
}

/// Carries out decisions at once. Returns false if a running worker will do it.
pub(crate) fn run_promotions(context: &CommandContext<'_>, ids: &[ProposalId]) -> Result<bool, CliError> {
    if ids.is_empty() {
        return Ok(true);
    }
    let Some(worker_lock) = WorkerLock::acquire(&context.places.locks_folder(), WORKER_TIMEOUT)? else {
        return Ok(false);
    };
    let stage_context = context.stage_context();
    for id in ids {
        run_now(&worker_lock, &stage_context, &STAGE_REGISTRY, promote::PROMOTE, &id.to_string())?;
    }
    Ok(true)
}

/// Takes back the decision on a proposal, unless a worker is running.
pub(crate) fn undo_decision(
    context: &CommandContext<'_>,
    id: ProposalId,
    decided: Option<Timestamp>,
) -> Result<ReconsiderOutcome, CliError> {
    context.writable_vault()?;
    let Some(worker_lock) = WorkerLock::acquire(&context.places.locks_folder(), WORKER_TIMEOUT)? else {
        return Err(CliError::new(format!("could not undo the decision on {id}: a worker is running"))
            .hint("try again when it has finished (see `rekindle runs`)"));
    };
    promote::reverse_decision(&worker_lock, &context.stage_context(), id, decided).map_err(CliError::new)
}
