//! `rekindle undo`: takes back a change or a decision.

use clap::Args;
use rekindle_core::vault::journal::{ChangeActor, VaultChange};
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::pipeline::stages::promote::ReconsiderOutcome;
use serde_json::json;

use super::id_match;
use crate::app::memory::history::changed_files;
use crate::app::review::describe::outcome_with_author;
use crate::app::undo::undo_change;
use crate::app::{CommandContext, review};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle undo                  # the newest change
  rekindle undo 8F3KQ2ZD         # the change with this id in `rekindle log`
  rekindle undo p-20261115-002   # the decision on a proposal, whoever made it

Undoing an undo makes the change again. A proposal whose decision you undo waits for you again. `rekindle forget` cannot
be undone.")]
pub(crate) struct UndoArgs {
    /// A change, as `rekindle log` shows it, or a proposal; without it, the newest change
    #[arg(value_name = "ID")]
    reference: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl UndoArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if let Some(typed) = self.reference.as_ref().filter(|typed| id_match::is_proposal(typed)) {
            let ids = id_match::proposals(context, std::slice::from_ref(typed))?;
            return ids.into_iter().try_for_each(|id| self.decision(context, id));
        }
        let (undone, waiting) = undo_change(context, self.reference.as_deref())?;
        if self.json {
            return context.out.json(&json!({
                "undone": undone.change.id,
                "verb": undone.change.verb,
                "by": undone.change.by,
                "places": changed_files(&undone.change),
                "change": undone.by.change,
                "conflicts": undone.by.conflicts,
                "waiting": waiting,
            }));
        }
        let VaultChange { verb, id, .. } = &undone.change;
        let places = changed_files(&undone.change).join(", ");
        context.out.line(format!(
            "Undone: {} {verb} {} ({places})",
            owner_phrase(undone.change.by),
            id.short_id()
        ))?;
        for id in waiting {
            context.out.line(format!("{id} is back in your review."))?;
        }
        Ok(())
    }

    /// Takes back the decision on a proposal.
    fn decision(&self, context: &CommandContext<'_>, id: ProposalId) -> Result<(), CliError> {
        context.require_person("undo the decision on a proposal")?;
        let record = match review::undo_decision(context, id, None)? {
            ReconsiderOutcome::Waiting if self.json => return context.out.json(&json!({"waiting": [id]})),
            ReconsiderOutcome::Waiting => return context.out.line(format!("{id} is back in your review.")),
            ReconsiderOutcome::Otherwise(record) => record,
            ReconsiderOutcome::Unknown => return Err(CliError::usage(format!("there is no proposal {id}"))),
        };
        if record.proposal.status.is_open() {
            return Err(CliError::new(format!("{id} is not decided yet")));
        }
        Err(CliError::new(outcome_with_author(context, &record)))
    }
}

/// Names the author of a change, because the newest may not be the person's.
fn owner_phrase(by: ChangeActor) -> &'static str {
    match by {
        ChangeActor::User => "your",
        ChangeActor::Agent => "an agent's",
        ChangeActor::Worker => "Rekindle's",
    }
}
