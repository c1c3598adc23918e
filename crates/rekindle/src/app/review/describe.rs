//! Describes a proposal: its section, its expiry, and its outcome in a sentence.

use rekindle_core::base::scope::ProjectId;
use rekindle_core::base::time::day;
use rekindle_core::knowledge::proposal::ProposalStatus;
use rekindle_core::vault::journal;
use rekindle_core::vault::layout;
use rekindle_core::vault::memory::sections;
use rekindle_core::vault::review::{ProposalId, ProposalPlace};
use rekindle_engine::pipeline::stages::promote;
use rekindle_engine::review::patches::{self, is_patch};
use rekindle_engine::review::proposals::ProposalRecord;

use crate::app::CommandContext;

/// The number of days before expiry from which a proposal shows its deadline (REV-11).
const EXPIRY_NOTICE_DAYS: i64 = 2;

/// The outcome of a proposal, in a sentence.
pub(crate) fn told(context: &CommandContext<'_>, standing: &ProposalRecord) -> String {
    let by = standing.by.map_or_else(String::new, |by| format!(" {}", by.phrase()));
    let at = standing.decided.map_or_else(String::new, |at| {
        let at = at.to_zoned(context.now.time_zone().clone());
        format!(" on {} at {}", day(at.date()), at.strftime("%H:%M"))
    });
    let status = standing.proposal.status;
    let why = standing.note.as_ref().filter(|_| status == ProposalStatus::Rejected);
    let why = why.map_or_else(String::new, |reason| format!(" (because: {reason})"));
    format!("{} was {}{by}{at}{why}", standing.proposal.id, status.as_str())
}

pub(crate) fn said(context: &CommandContext<'_>, standing: &ProposalRecord) -> String {
    let id = standing.proposal.id;
    match standing.proposal.status {
        ProposalStatus::Promoted => match standing.proposal.section() {
            Some(_) => {
                let reach = line_project(context, id)
                    .map_or_else(String::new, |project| format!(", for {project} only"));
                format!("Added {id} to MEMORY.md › {}{reach}", section(standing))
            }
            None if standing.proposal.global_entry().is_some() => {
                format!("{id} is done: it applies to every project")
            }
            None if standing.proposal.idea_slug().is_some() => {
                format!("{id} is done: the idea is now a project")
            }
            None => format!("{id} is in {}", standing.proposal.file()),
        },
        ProposalStatus::Approved | ProposalStatus::Edited if is_patch(standing) => {
            let path = patches::path(&context.places.patches_folder(), id);
            let file = standing.proposal.file();
            let patch = path.display();
            format!("{id} is approved; apply it to {file} with `rekindle review apply {id}` (patch: {patch})")
        }
        ProposalStatus::Rejected => format!("Rejected {id}"),
        _ => told(context, standing),
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
pub(crate) fn would_hold_in(context: &CommandContext<'_>, standing: &ProposalRecord) -> Option<ProjectId> {
    standing.proposal.section()?;
    promote::target_project(standing, &context.vault().ok()?).ok()?
}

pub(crate) fn section(standing: &ProposalRecord) -> String {
    match &standing.proposal.place {
        ProposalPlace::Section(_) => standing.proposal.describe_target().into_owned(),
        ProposalPlace::Friction(date) => {
            format!("{} (friction fix of {})", standing.proposal.describe_target(), day(*date))
        }
    }
}

/// The change of the proposal's file as `diff -u` shows it, if it still applies.
pub(crate) fn change(context: &CommandContext<'_>, standing: &ProposalRecord) -> Option<String> {
    let shown = standing.proposal.status.is_open() || is_patch(standing);
    let preview = shown
        .then(|| promote::preview_approval(&context.stage_context(), standing, !standing.keeps_superseded))?;
    preview.ok().map(|preview| preview.diff)
}

/// The number of days until the proposal expires, once that is near.
pub(crate) fn expires(context: &CommandContext<'_>, standing: &ProposalRecord) -> Option<i64> {
    let left = i64::from(context.settings.config.review.expire_days) - standing.days(context.now.timestamp());
    (standing.proposal.status.is_open() && left <= EXPIRY_NOTICE_DAYS).then_some(left.max(0))
}
