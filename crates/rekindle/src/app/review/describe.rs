//! Describes a proposal: its section, its expiry, and its outcome in a sentence.

use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::day;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::journal;
use rekindle_core::vault::layout;
use rekindle_core::vault::memory::{StatementOutcome, sections};
use rekindle_core::vault::review::{ProposalId, ProposalPlace};
use rekindle_engine::pipeline::stages::promote::{self, ApprovalEffect, ApprovalPreview};
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::patches::{self, is_patch};
use rekindle_engine::review::proposals::{self, ProposalRecord, SharedDecisionState};

use crate::app::CommandContext;

/// The number of days before expiry from which a proposal shows its deadline (REV-11).
const EXPIRY_NOTICE_DAYS: i64 = 2;

/// The outcome of a proposal, in a sentence.
pub(crate) fn outcome_with_author(context: &CommandContext<'_>, record: &ProposalRecord) -> String {
    let by = record.by.map_or_else(String::new, |by| format!(" {}", by.phrase()));
    let at = record.decided.map_or_else(String::new, |at| {
        let at = at.to_zoned(context.now.time_zone().clone());
        format!(" on {} at {}", day(at.date()), at.strftime("%H:%M"))
    });
    let status = record.proposal.status;
    let why = record.note.as_ref().filter(|_| status == ProposalStatus::Rejected);
    let why = why.map_or_else(String::new, |reason| format!(" (because: {reason})"));
    format!("{} was {}{by}{at}{why}", record.proposal.id, status.as_str())
}

/// What the server that machines share says about a decision; `None` if nothing is shared.
fn shared_state(context: &CommandContext<'_>, id: ProposalId) -> Option<SharedDecisionState> {
    let db = Database::open_existing(&context.places.database()).ok()??;
    proposals::decision_state(&db, id).ok()?
}

/// True if a decision is carried out only when the shared server has answered.
pub(crate) fn waits_for_server(context: &CommandContext<'_>, id: ProposalId) -> bool {
    shared_state(context, id) == Some(SharedDecisionState::Waiting)
}

/// Describes the outcome of a proposal in a sentence.
pub(crate) fn describe_outcome(context: &CommandContext<'_>, record: &ProposalRecord) -> String {
    let id = record.proposal.id;
    match shared_state(context, id) {
        Some(SharedDecisionState::Waiting) => {
            return format!(
                "{id} waits for the shared server (`rekindle engines`); another machine may have decided first"
            );
        }
        Some(SharedDecisionState::Elsewhere) => {
            let status = record.proposal.status.as_str();
            return format!("{id} was decided on another machine first: {status}");
        }
        Some(SharedDecisionState::Won) | None => {}
    }
    match record.proposal.status {
        ProposalStatus::Promoted => match record.proposal.section() {
            Some(_) => {
                let reach = line_project(context, id)
                    .map_or_else(String::new, |project| format!(", for {project} only"));
                format!("Added {id} to MEMORY.md › {}{reach}", section(record))
            }
            None if record.proposal.global_entry().is_some() => {
                format!("{id} is done: it applies to every project")
            }
            None if record.proposal.idea_slug().is_some() => {
                format!("{id} is done: the idea is now a project")
            }
            None => format!("{id} is in {}", record.proposal.file()),
        },
        ProposalStatus::Approved | ProposalStatus::Edited if is_patch(record) => {
            let path = patches::path(&context.places.patches_folder(), id);
            let file = record.proposal.file();
            let patch = path.display();
            format!("{id} is approved; apply it to {file} with `rekindle review apply {id}` (patch: {patch})")
        }
        ProposalStatus::Rejected => format!("Rejected {id}"),
        _ => outcome_with_author(context, record),
    }
}

/// The project of a proposal's line in MEMORY.md; `None` is everywhere.
fn line_project(context: &CommandContext<'_>, id: ProposalId) -> Option<ProjectId> {
    let memory = context
        .vault()
        .ok()?
        .read(&journal::ChangedFile::vault(layout::fixed_path(layout::MEMORY)))
        .ok()??;
    let name = id.to_string();
    let mut items = sections(&memory.text).ok()?.into_iter().flat_map(|section| section.items);
    items.find(|item| item.ids.contains(&name))?.project
}

/// The project in which a proposal would hold, if the person can choose: only lines of MEMORY.md have a
/// scope.
pub(crate) fn would_hold_in(context: &CommandContext<'_>, record: &ProposalRecord) -> Option<ProjectId> {
    record.proposal.section()?;
    promote::target_project(record, &context.vault().ok()?).ok()?
}

pub(crate) fn section(record: &ProposalRecord) -> String {
    match &record.proposal.place {
        ProposalPlace::Section(_) => record.proposal.describe_target().into_owned(),
        ProposalPlace::Friction(date) => {
            format!("{} (friction fix of {})", record.proposal.describe_target(), day(*date))
        }
    }
}

/// The change of the proposal's file as `diff -u` shows it, if it still applies.
pub(crate) fn change(context: &CommandContext<'_>, record: &ProposalRecord) -> Option<String> {
    let shown = record.proposal.status.is_open() || is_patch(record);
    let preview = shown
        .then(|| promote::preview_approval(&context.stage_context(), record, !record.keeps_superseded))?;
    preview.ok().map(|preview| preview.diff)
}

/// The number of days until the proposal expires, once that is near.
pub(crate) fn expires(context: &CommandContext<'_>, record: &ProposalRecord) -> Option<i64> {
    let left = i64::from(context.settings.config.review.expire_days) - record.days(context.now.timestamp());
    (record.proposal.status.is_open() && left <= EXPIRY_NOTICE_DAYS).then_some(left.max(0))
}

/// True if an approval takes the place of another line or version.
pub(crate) fn replaces_line(record: &ProposalRecord, preview: &ApprovalPreview) -> bool {
    match preview.does {
        ApprovalEffect::Memory(promoted) => promoted.replaced,
        ApprovalEffect::Patch | ApprovalEffect::Version => record.proposal.supersedes.is_some(),
        ApprovalEffect::Project | ApprovalEffect::Everywhere | ApprovalEffect::Nothing => false,
    }
}

/// What an approval does, in a sentence before its change.
pub(crate) fn effect_words(record: &ProposalRecord, preview: &ApprovalPreview, section: &str) -> String {
    let file = record.proposal.file();
    match preview.does {
        ApprovalEffect::Memory(promoted) => match promoted.outcome {
            _ if replaces_line(record, preview) => {
                "It strikes through the line it replaces, and adds:".to_owned()
            }
            StatementOutcome::Appended => "It adds a line:".to_owned(),
            StatementOutcome::Reflected => {
                format!("There is no section {section}, so it goes to Reflected:")
            }
            StatementOutcome::Merged => "A line there says the same and only gets a note:".to_owned(),
            StatementOutcome::AlreadyThere => "MEMORY.md already says this; nothing changes.".to_owned(),
        },
        ApprovalEffect::Patch => {
            format!("{file} is yours: approving creates a patch, which `rekindle review apply` applies:")
        }
        ApprovalEffect::Version => {
            "The memory gets a new version; the old one goes to the archive:".to_owned()
        }
        ApprovalEffect::Everywhere => "The memory will apply to every project:".to_owned(),
        ApprovalEffect::Project => {
            "The idea becomes a project: its folder moves to personal-projects, and Ideas.md is updated:"
                .to_owned()
        }
        ApprovalEffect::Nothing => format!("{file} already says this; nothing changes."),
    }
}
