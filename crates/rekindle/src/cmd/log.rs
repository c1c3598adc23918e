//! `rekindle log`: lists changes.

use clap::Args;
use rekindle_core::base::time::{Timestamp, parse};
use rekindle_core::vault::journal::{Change, Op};
use rekindle_engine::vault::{Outcome, Record};
use serde_json::{Value, json};

use crate::app::Context;
use crate::error::Failure;
use crate::output::{Style, column};

#[derive(Args)]
#[command(after_help = "\
Lists the changes that you made. --all adds what agents saved through their tools and what Rekindle did in the
background. `rekindle undo ID` undoes any of them.

Examples:
  rekindle log
  rekindle log --all
  rekindle log -n 100 --json | jq -r '.[] | [.at, .verb, .places[]] | @tsv'")]
pub(crate) struct Log {
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

impl Log {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let vault = context.vault()?;
        let is_shown = |record: &Result<Record, _>| match record {
            Ok(record) => self.all || record.change.is_a_persons(),
            Err(_) => true,
        };
        let records =
            vault.changes()?.filter(is_shown).take(self.number).collect::<Result<Vec<Record>, _>>()?;
        if self.json {
            return context.out.json(&records.iter().map(object).collect::<Vec<Value>>());
        }
        for Record { change, outcome } in &records {
            let mark = match outcome {
                Outcome::Done => "",
                Outcome::Aborted => " (did not happen)",
                Outcome::Pending => " (cut off; the next change finishes it)",
            };
            let of = change.undoes.as_ref().map_or_else(String::new, |id| format!(" of {}", id.tail()));
            let by = if self.all { format!("{}  ", column(change.by.word(), 8)) } else { String::new() };
            context.out.line(format!(
                "{}  {}  {by}{}  {}{of}{mark}",
                context.out.styled(Style::Dim, change.id.tail()),
                when(context, change),
                column(&change.verb, 7),
                places(change).join(", "),
            ))?;
        }
        if records.is_empty() && !self.all {
            context.out.note(
                "You changed nothing yet. `rekindle log --all` shows what agents and Rekindle changed.",
            );
        }
        Ok(())
    }
}

/// Formats the time of a change in the person's time zone.
fn when(context: &Context<'_>, change: &Change) -> String {
    let local = |at: Timestamp| at.to_zoned(context.now.time_zone().clone());
    parse(&change.at)
        .map_or_else(|| change.at.clone(), |at| local(at).strftime("%Y-%m-%dT%H:%M:%S").to_string())
}

/// Lists the files of a change, for people.
pub(crate) fn places(change: &Change) -> Vec<String> {
    change
        .ops
        .iter()
        .flat_map(|op| match op {
            Op::Forgotten => vec!["(forgotten)".to_owned()],
            op => op.places().map(ToString::to_string).collect(),
        })
        .collect()
}

fn object(record: &Record) -> Value {
    let Record { change, outcome } = record;
    json!({
        "id": change.id,
        "at": change.at,
        "verb": change.verb,
        "by": change.by,
        "permission": change.permission,
        "undoes": change.undoes,
        "outcome": outcome,
        "undoable": *outcome == Outcome::Done && change.ops.iter().all(Op::can_be_undone),
        "places": places(change),
        "ops": change.ops.iter().map(operation).collect::<Vec<Value>>(),
    })
}

/// Renders the change of one file as JSON: hashes, never text.
fn operation(op: &Op) -> Value {
    match op {
        Op::Create { place, after } => json!({"op": "create", "place": place, "after": after}),
        Op::Edit { place, before, after, .. } => {
            json!({"op": "edit", "place": place, "before": before, "after": after})
        }
        Op::Append { place, before, after, .. } => {
            json!({"op": "append", "place": place, "before": before, "after": after})
        }
        Op::Remove { place, before, .. } => json!({"op": "remove", "place": place, "before": before}),
        Op::Move { place, from, before } => {
            json!({"op": "move", "place": place, "from": from, "before": before})
        }
        Op::Forgotten => json!({"op": "forgotten"}),
    }
}
