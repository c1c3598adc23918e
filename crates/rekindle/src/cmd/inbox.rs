//! `rekindle inbox`: keeps or drops memories that were seen only once.

use clap::{Args, Subcommand};
use rekindle_core::base::time::Zoned;
use rekindle_core::text::RedactionCounts;
use rekindle_core::vault::shelf_moves::MAX_INBOX_ENTRIES;
use rekindle_engine::vault::{KeepRequest, ScannedEntry, ShelveResult, ShelvedEntry};
use serde_json::{Value, json};

use super::list;
use crate::app::CommandContext;
use crate::app::inbox::{self, origin_phrase};
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
The inbox holds memories that were seen only once. Recall finds them, ranks them lower and marks them as unreviewed.
A memory that you keep moves to the folder of its kind. One that you drop moves to the archive, and is not proposed
again unless you state it outright. `rekindle undo` undoes either.

`rekindle inbox` and `rekindle review inbox` are the same command.

Examples:
  rekindle inbox
  rekindle inbox keep use-tabs m-7k2d9q0x1abc
  rekindle inbox keep staging-port --kind fix
  rekindle inbox keep no-force-push --always-load
  rekindle inbox drop old-guess
  rekindle inbox list --json | jq -r '.entries[].title'")]
pub(crate) struct InboxArgs {
    #[command(subcommand)]
    verb: Option<InboxCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum InboxCommand {
    /// List the inbox, oldest first
    List,
    /// Keep memories: they move to their kind and count as reviewed
    #[command(after_help = "\
Examples:
  rekindle inbox keep use-tabs
  rekindle inbox keep --all")]
    Keep {
        /// The memories to keep: ids, paths or slugs
        #[arg(value_name = "ID|PATH", required_unless_present = "all", conflicts_with = "all")]
        references: Vec<String>,
        /// Give them another kind (fix, preference, decision, howto, …)
        #[arg(long)]
        kind: Option<String>,
        /// Load them at every session start
        #[arg(long)]
        always_load: bool,
        /// Keep the whole inbox
        #[arg(long)]
        all: bool,
    },
    /// Drop memories: they move to the archive
    #[command(after_help = "\
Examples:
  rekindle inbox drop old-guess another-guess")]
    Drop {
        /// The memories to drop: ids, paths or slugs
        #[arg(value_name = "ID|PATH", required = true)]
        references: Vec<String>,
    },
}

impl InboxArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            Some(InboxCommand::Keep { references, kind, always_load, all }) => {
                let keeping = KeepRequest { kind, always_load };
                keep_entries(context, &references, &keeping, all, self.json)
            }
            Some(InboxCommand::Drop { references }) => drop_some(context, &references, self.json),
            Some(InboxCommand::List) | None => list(context, self.json),
        }
    }
}

fn list(context: &CommandContext<'_>, as_json: bool) -> Result<(), CliError> {
    let waiting = context.vault()?.inbox()?;
    if as_json {
        let entries: Vec<Value> = waiting.iter().map(|found| object(context, found)).collect();
        return context.out.json(&json!({
            "count": waiting.len(),
            "oldest_days": oldest(&waiting, &context.now),
            "many": waiting.len() > MAX_INBOX_ENTRIES,
            "entries": entries,
        }));
    }
    for found in &waiting {
        let id = found.entry.id.as_ref().map_or_else(|| found.path.stem(), |id| id.as_str());
        let old = age(found, &context.now).map_or_else(|| "-".to_owned(), days);
        let about = format!(" [{}, {}]", found.entry.provenance.origin, origin_phrase(found));
        context.out.line(format!(
            "{}  {}  {}  {}{}",
            context.out.styled(TextStyle::Dim, pad_column(id, 14)),
            pad_column(&old, 8),
            pad_column(&found.entry.kind, 12),
            found.title,
            context.out.styled(TextStyle::Dim, about),
        ))?;
    }
    if waiting.is_empty() {
        context.out.note("The inbox is empty.");
    } else {
        context.out.note(format!(
            "{}. Decide with `rekindle inbox keep` or `drop`.",
            describe_inbox(&waiting, &context.now)
        ));
    }
    remind_if_full(context, &waiting);
    Ok(())
}

fn object(context: &CommandContext<'_>, found: &ScannedEntry) -> Value {
    let mut object = list::object(context, found);
    if let Some(fields) = object.as_object_mut() {
        fields.insert("age_days".to_owned(), json!(age(found, &context.now)));
        fields.insert("how".to_owned(), json!(origin_phrase(found)));
    }
    object
}

/// The age of a memory in days.
fn age(found: &ScannedEntry, now: &Zoned) -> Option<i64> {
    let created = found.entry.created?;
    Some((now.timestamp().as_second() - created.as_second()).max(0) / 86_400)
}

fn oldest(waiting: &[ScannedEntry], now: &Zoned) -> Option<i64> {
    waiting.iter().filter_map(|found| age(found, now)).max()
}

fn days(days: i64) -> String {
    match days {
        0 => "today".to_owned(),
        1 => "1 day".to_owned(),
        days => format!("{days} days"),
    }
}

/// The number of memories in the inbox, with the age of the oldest.
pub(crate) fn describe_inbox(waiting: &[ScannedEntry], now: &Zoned) -> String {
    let count = format!("{} in the inbox", waiting.len());
    match oldest(waiting, now) {
        None => count,
        Some(0) => format!("{count}, all from today"),
        Some(oldest) => format!("{count}, the oldest {}", days(oldest)),
    }
}

/// Reminds the person once the inbox is too long to review in passing (SID-08).
pub(crate) fn remind_if_full(context: &CommandContext<'_>, waiting: &[ScannedEntry]) {
    if waiting.len() > MAX_INBOX_ENTRIES {
        let count = waiting.len();
        context.out.warn(format!("{count} memories are in the inbox; review them with `rekindle inbox`"));
    }
}

fn keep_entries(
    context: &CommandContext<'_>,
    references: &[String],
    request: &KeepRequest,
    all: bool,
    as_json: bool,
) -> Result<(), CliError> {
    let (kept, left) = match all {
        true => inbox::keep_all(context, request)?,
        false => (inbox::keep(context, references, request)?, Vec::new()),
    };
    print_shelved(context, &kept, "Kept", "kept", &left, as_json)
}

fn drop_some(context: &CommandContext<'_>, references: &[String], as_json: bool) -> Result<(), CliError> {
    let dropped = inbox::drop_entries(context, references)?;
    print_shelved(context, &dropped, "Dropped", "dropped", &[], as_json)
}

fn print_shelved(
    context: &CommandContext<'_>,
    shelved: &ShelveResult,
    word: &str,
    key: &str,
    left: &[(String, String)],
    as_json: bool,
) -> Result<(), CliError> {
    context.report_redactions(&RedactionCounts::default(), &shelved.conflicts);
    for (path, why) in left {
        context.out.warn(format!("{path} stays in the inbox: {why}"));
    }
    if as_json {
        let one = |entry: &ShelvedEntry| {
            let file = context.file(entry.path.as_str());
            json!({"id": entry.id, "from": entry.from, "path": entry.path, "file": file})
        };
        let entries: Vec<Value> = shelved.entries.iter().map(one).collect();
        let left: Vec<Value> = left.iter().map(|(path, why)| json!({"path": path, "why": why})).collect();
        return context.out.json(&json!({"change": shelved.change, key: entries, "left": left}));
    }
    for entry in &shelved.entries {
        let name = entry.id.as_ref().map_or_else(|| entry.from.stem(), |id| id.as_str());
        context.out.line(format!("{word} {name}: {}", entry.path))?;
    }
    if shelved.entries.is_empty() {
        context.out.note("The inbox is empty.");
    }
    Ok(())
}
