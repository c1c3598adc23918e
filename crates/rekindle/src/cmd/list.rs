//! `rekindle list`: lists memories.

use std::collections::BTreeSet;

use clap::Args;
use rekindle_core::base::time::{Timestamp, format_utc};
use rekindle_core::text::plural::count_phrase;
use rekindle_core::vault::entry::EntryStatus;
use rekindle_core::vault::layout::{EntryGroup, VaultShelf};
use rekindle_engine::vault::ScannedEntry;
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle list
  rekindle list --kind fix --tag db
  rekindle list --project --json | jq -r '.[].path'")]
pub(crate) struct ListArgs {
    /// Only this group
    #[arg(long)]
    group: Option<EntryGroup>,
    /// Only this kind, such as fix or preference
    #[arg(long)]
    kind: Option<String>,
    /// Only with this tag; given several times, with all of them
    #[arg(long = "tag", short = 't', value_name = "TAG")]
    tags: Vec<String>,
    /// Only memories of the current project
    #[arg(long, conflicts_with = "global")]
    project: bool,
    /// Only memories of every project
    #[arg(long)]
    global: bool,
    /// Include archived and resolved memories
    #[arg(long, short = 'a')]
    all: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl ListArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let here = context.project_id();
        if self.project && here.is_none() {
            return Err(CliError::usage("this folder is not in a project").hint("see `rekindle project`"));
        }
        let scan = context.vault()?.scan(self.all)?;
        if let Some(kind) = &self.kind {
            check_kind(kind, &scan.entries)?;
        }
        let is_empty = scan.entries.is_empty();
        let wanted = |found: &ScannedEntry| {
            let entry = &found.entry;
            (self.all || matches!(entry.status, EntryStatus::Active | EntryStatus::Incubating))
                && self.group.is_none_or(|group| entry.group == group.folder_name())
                && self.kind.as_ref().is_none_or(|kind| entry.kind == *kind)
                && self.tags.iter().all(|tag| entry.tags.contains(tag))
                && (!self.project || entry.scope.project() == here)
                && (!self.global || entry.scope.project().is_none())
        };
        let mut found: Vec<ScannedEntry> = scan.entries.into_iter().filter(wanted).collect();
        found.sort_by_key(|found| std::cmp::Reverse(found.entry.updated.or(found.entry.created)));
        if self.json {
            let objects: Vec<Value> = found.iter().map(|found| object(context, found)).collect();
            context.out.json(&objects)?;
        } else {
            let rows: String = found.iter().map(|found| row(context, found) + "\n").collect();
            context.out.write(rows.as_bytes())?;
            if found.is_empty() {
                context.out.note(if is_empty {
                    "No memories yet. To save one, see `rekindle save --help`."
                } else {
                    "No memory matches. `rekindle list` shows them all."
                });
            }
        }
        if !scan.problems.is_empty() {
            let count = scan.problems.len();
            context
                .out
                .warn(format!("could not read {}; see `rekindle doctor`", count_phrase(count, "file")));
        }
        Ok(())
    }
}

/// Reports a kind that no memory has, with the existing ones: kinds are free words, so an unknown one is most
/// likely a typo.
fn check_kind(kind: &str, entries: &[ScannedEntry]) -> Result<(), CliError> {
    let kinds: BTreeSet<&str> = entries.iter().map(|found| found.entry.kind.as_str()).collect();
    if kinds.is_empty() || kinds.contains(kind) {
        return Ok(());
    }
    let kinds: Vec<&str> = kinds.into_iter().filter(|kind| !kind.is_empty()).collect();
    Err(CliError::usage(format!("there is no memory of kind `{kind}`"))
        .hint(format!("the kinds you have: {}", kinds.join(", "))))
}

fn row(context: &CommandContext<'_>, found: &ScannedEntry) -> String {
    let id = found.entry.id.as_ref().map_or("-", |id| id.as_str());
    let day = found.entry.updated.map_or_else(|| "-".into(), |at| context.day(at));
    let mark = match (found.shelf, &found.entry.status) {
        (VaultShelf::Inbox, _) => " (inbox)",
        (VaultShelf::Archive, _) | (_, EntryStatus::Superseded) => " (archived)",
        (_, EntryStatus::Resolved) => " (resolved)",
        _ => "",
    };
    let reach = found.entry.scope.project().map_or_else(String::new, |project| format!(" [{project}]"));
    format!(
        "{}  {day}  {}  {}{}{mark}",
        context.out.styled(TextStyle::Dim, pad_column(id, 14)),
        pad_column(&found.entry.kind, 12),
        found.title,
        context.out.styled(TextStyle::Dim, reach),
    )
}

/// Renders one memory as JSON.
pub(crate) fn object(context: &CommandContext<'_>, found: &ScannedEntry) -> Value {
    let entry = &found.entry;
    let time = |at: Option<Timestamp>| at.map(format_utc);
    json!({
        "id": entry.id,
        "path": found.path,
        "file": context.file(found.path.as_str()),
        "title": found.title,
        "kind": entry.kind,
        "group": entry.group,
        "status": entry.status,
        "tags": entry.tags,
        "scope": entry.scope.kind_str(),
        "project": entry.scope.project(),
        "always_load": entry.always_load,
        "inbox": found.shelf == VaultShelf::Inbox,
        "created": time(entry.created),
        "updated": time(entry.updated),
        "supersedes": entry.supersedes,
        "superseded_by": entry.superseded_by,
        "confidence": entry.confidence,
        "sentiment": entry.sentiment,
        "origin": entry.provenance.origin,
        "session": entry.provenance.session,
        "messages": entry.provenance.messages,
    })
}
