//! `rekindle undo`: takes back a change or a decision.

use clap::Args;
use rekindle_core::text::Counts;
use rekindle_core::vault::journal::{Actor, Change};
use rekindle_core::vault::review::Id;
use rekindle_engine::pipeline::stages::promote::{self, Reconsidered};
use serde_json::json;

use super::log::places;
use super::named;
use crate::app::review::describe::told;
use crate::app::{Context, review};
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle undo                  # the newest change
  rekindle undo 8F3KQ2ZD         # the change with this id in `rekindle log`
  rekindle undo p-20261115-002   # the decision on a proposal, whoever made it

Undoing an undo makes the change again. A proposal whose decision you undo waits for you again. `rekindle forget` cannot
be undone.")]
pub(crate) struct Undo {
    /// A change, as `rekindle log` shows it, or a proposal; without it, the newest change
    #[arg(value_name = "ID")]
    reference: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Undo {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        if let Some(typed) = self.reference.as_ref().filter(|typed| named::is_proposal(typed)) {
            let ids = named::proposals(context, std::slice::from_ref(typed))?;
            return ids.into_iter().try_for_each(|id| self.decision(context, id));
        }
        let vault = context.vault_to_change()?;
        let by = if context.is_agent_shell() { Actor::Agent } else { Actor::User };
        let undone = vault.undo(self.reference.as_deref(), by, &context.now)?;
        context.mention(&Counts::default(), &undone.by.conflicts);
        // An undone promotion makes the proposal open again.
        let waiting = match promote::take_back(&context.world()) {
            Ok(waiting) => waiting,
            Err(error) => {
                context.out.warn(format!("it is undone, but the proposals do not know yet: {error}"));
                Vec::new()
            }
        };
        if self.json {
            return context.out.json(&json!({
                "undone": undone.change.id,
                "verb": undone.change.verb,
                "by": undone.change.by,
                "places": places(&undone.change),
                "change": undone.by.change,
                "conflicts": undone.by.conflicts,
                "waiting": waiting,
            }));
        }
        let Change { verb, id, .. } = &undone.change;
        let places = places(&undone.change).join(", ");
        context.out.line(format!("Undone: {} {verb} {} ({places})", whose(undone.change.by), id.tail()))?;
        for id in waiting {
            context.out.line(format!("{id} is back in your review."))?;
        }
        Ok(())
    }

    /// Takes back the decision on a proposal.
    fn decision(&self, context: &Context<'_>, id: Id) -> Result<(), Failure> {
        context.only_the_person("take back what was decided on a proposal")?;
        let standing = match review::reconsider(context, id, None)? {
            Reconsidered::Waiting if self.json => return context.out.json(&json!({"waiting": [id]})),
            Reconsidered::Waiting => return context.out.line(format!("{id} is back in your review.")),
            Reconsidered::Otherwise(standing) => standing,
            Reconsidered::Unknown => return Err(Failure::usage(format!("there is no proposal {id}"))),
        };
        if standing.proposal.status.is_open() {
            return Err(Failure::new(format!("{id} is not decided yet")));
        }
        Err(Failure::new(told(context, &standing)))
    }
}

/// Names the author of a change, because the newest may not be the person's.
fn whose(by: Actor) -> &'static str {
    match by {
        Actor::User => "your",
        Actor::Agent => "an agent's",
        Actor::Worker => "Rekindle's",
    }
}
