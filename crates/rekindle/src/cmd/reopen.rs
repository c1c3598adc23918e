//! `rekindle reopen`

use clap::Args;
use rekindle_core::proposal::Status;
use rekindle_core::vault::review::Id;
use rekindle_engine::db::Db;
use rekindle_engine::proposals;
use rekindle_engine::stages::promote;
use serde_json::json;

use crate::compose::Context;
use crate::error::Failure;

/// Ask again about proposals that were turned down or archived
#[derive(Args)]
#[command(after_help = "\
They wait again, also if nobody but triage turned them down (`rekindle review --automatic`). What is in MEMORY.md already is
taken back with `rekindle undo`.

Examples:
  rekindle reopen p-20261115-002")]
pub(crate) struct Reopen {
    /// Which, as `rekindle review --automatic` or the log of the day shows them
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Id>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Reopen {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        context.vault_to_change()?;
        let db = Db::open(&context.places.database())?;
        let world = context.world();
        let (mut waiting, mut wrong) = (Vec::new(), Vec::new());
        for id in self.ids {
            // One that ended with another one of the list waits by now.
            let opened = promote::reopen(&world, id).map_err(Failure::new)?;
            if opened.is_empty() && !waiting.contains(&id) {
                wrong.push(match proposals::standing(&db, id)?.map(|standing| standing.proposal.status) {
                    None => format!("there is no proposal {id}"),
                    Some(Status::Promoted | Status::Approved | Status::Edited) => {
                        format!("{id} was approved; `rekindle undo` takes a promotion back")
                    }
                    Some(_) => format!("{id} waits already"),
                });
            }
            waiting.extend(opened);
        }
        if self.json {
            context.out.json(&json!({"waiting": waiting, "failed": wrong}))?;
        } else {
            for id in &waiting {
                context.out.line(format!("{id} waits for a decision again"))?;
            }
        }
        match wrong.is_empty() {
            true => Ok(()),
            false => {
                Err(Failure::new(wrong.join("\n")).hint("`rekindle review ID` shows what became of one"))
            }
        }
    }
}
