//! `rekindle log`: lists changes.

use clap::Args;
use rekindle_core::base::time::{Timestamp, parse};
use rekindle_core::vault::journal::{FileOperation, VaultChange};
use rekindle_engine::vault::{ChangeOutcome, ChangeRecord};
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::app::memory::history::changed_files;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Lists the changes that you made. --all adds what agents saved through their tools and what Rekindle did in the
background. `rekindle undo ID` undoes any of them.

Examples:
  rekindle log
  rekindle log --all
  rekindle log -n 100 --json | jq -r '.[] | [.at, .verb, .places[]] | @tsv'")]
pub(crate) struct LogArgs {
    /// Show this many changes
    #[arg(long, short = 'n', default_value_t = 20)]
    number: usize,
    /// Include the changes of agents and of Rekindle itself
    #[arg(long, short = 'a')]
    all: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl LogArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let vault = context.vault()?;
        let is_shown = |record: &Result<ChangeRecord, _>| match record {
            Ok(record) => self.all || record.change.is_by_user(),
            Err(_) => true,
        };
        let records =
            vault.changes()?.filter(is_shown).take(self.number).collect::<Result<Vec<ChangeRecord>, _>>()?;
        if self.json {
            return context.out.json(&records.iter().map(object).collect::<Vec<Value>>());
        }
        for ChangeRecord { change, outcome } in &records {
            let mark = match outcome {
                ChangeOutcome::Done => "",
                ChangeOutcome::Aborted => " (did not happen)",
                ChangeOutcome::Pending => " (interrupted; the next change finishes it)",
            };
            let of = change.undoes.as_ref().map_or_else(String::new, |id| format!(" of {}", id.short_id()));
            let by =
                if self.all { format!("{}  ", pad_column(change.by.as_str(), 8)) } else { String::new() };
            context.out.line(format!(
                "{}  {}  {by}{}  {}{of}{mark}",
                context.out.styled(TextStyle::Dim, change.id.short_id()),
                change_time(context, change),
                pad_column(&change.verb, 7),
                changed_files(change).join(", "),
            ))?;
        }
        if records.is_empty() && !self.all {
            context.out.note(
                "You have made no changes yet. `rekindle log --all` includes those of agents and Rekindle.",
            );
        }
        Ok(())
    }
}

/// Formats the time of a change in the person's time zone.
fn change_time(context: &CommandContext<'_>, change: &VaultChange) -> String {
    let local = |at: Timestamp| at.to_zoned(context.now.time_zone().clone());
    parse(&change.at)
        .map_or_else(|| change.at.clone(), |at| local(at).strftime("%Y-%m-%dT%H:%M:%S").to_string())
}

fn object(record: &ChangeRecord) -> Value {
    let ChangeRecord { change, outcome } = record;
    json!({
        "id": change.id,
        "at": change.at,
        "verb": change.verb,
        "by": change.by,
        "permission": change.permission,
        "undoes": change.undoes,
        "outcome": outcome,
        "undoable": *outcome == ChangeOutcome::Done && change.ops.iter().all(FileOperation::can_be_undone),
        "places": changed_files(change),
        "ops": change.ops.iter().map(operation).collect::<Vec<Value>>(),
    })
}

/// Renders the change of one file as JSON: hashes, never text.
fn operation(op: &FileOperation) -> Value {
    match op {
        FileOperation::Create { place, after } => json!({"op": "create", "place": place, "after": after}),
        FileOperation::Edit { place, before, after, .. } => {
            json!({"op": "edit", "place": place, "before": before, "after": after})
        }
        FileOperation::Append { place, before, after, .. } => {
            json!({"op": "append", "place": place, "before": before, "after": after})
        }
        FileOperation::Remove { place, before, .. } => {
            json!({"op": "remove", "place": place, "before": before})
        }
        FileOperation::Move { place, from, before } => {
            json!({"op": "move", "place": place, "from": from, "before": before})
        }
        FileOperation::Forgotten => json!({"op": "forgotten"}),
    }
}
