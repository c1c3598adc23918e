//! `rekindle recall`: searches memories.

use clap::Args;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::{TypedTime, Zoned};
use rekindle_core::recall::document::DocumentSource;
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::merge::ObservationMention;
use rekindle_core::recall::select::{MAX_LISTED_RESULTS, RecallHit};
use rekindle_core::vault::layout::EntryGroup;
use rekindle_core::vault::priority::Priority;
use rekindle_engine::recall::ask::{RecallAnswer, ShownPassage};
use serde_json::{Value, json};

use super::text_argument;
use crate::app::recall::{RecallQuestion, hit_location, quoted, recall_and_log, result};
use crate::app::{CommandContext, explain};
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle};

#[derive(Args)]
#[command(after_help = "\
Searches the memories of the current project and those of every project; --project names another one. Memories that you
have not reviewed rank lower and are marked. Messages from your sessions (`rekindle backfill`) fill the remaining
places; `--source message` shows only them. If nothing is relevant, it says so; --anyway shows the closest memories.

`rekindle search` and `rekindle find` are the same command.

Examples:
  rekindle recall 'which port does the staging database use?'
  rekindle recall 'how do we release' --group personal-skills --k 3
  rekindle recall 'flaky test' --since 2026-10-01 --priority high --json
  rekindle recall 'why did we drop redis' --explain
  git log -1 --format=%B | rekindle recall -")]
pub(crate) struct RecallArgs {
    /// The question or keywords: TEXT, @FILE, or - for stdin
    #[arg(value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    query: String,
    /// Show at most this many memories
    #[arg(long, short = 'k', value_name = "N")]
    k: Option<usize>,
    /// Only this group; may be given several times
    #[arg(long)]
    group: Vec<EntryGroup>,
    /// Only this kind (fix, preference, …); may be given several times
    #[arg(long)]
    kind: Vec<String>,
    /// Only from this source: entry, skill, memory, observation, proposal, idea, daily, note, message
    #[arg(long, value_parser = source)]
    source: Vec<DocumentSource>,
    /// Only with this tag; given several times, with all of them
    #[arg(long = "tag", short = 't', value_name = "TAG")]
    tags: Vec<String>,
    /// Only memories written on this date or later: 2026-11-15, yesterday, 2w, "3 days ago"
    #[arg(long, value_name = "DATE")]
    since: Option<TypedTime>,
    /// Only memories written on this date or earlier
    #[arg(long, value_name = "DATE")]
    until: Option<TypedTime>,
    /// Only of this priority or higher: low, medium, high
    #[arg(long, value_parser = priority)]
    priority: Option<Priority>,
    /// Only statements of this author: user, agent, import, tool
    #[arg(long)]
    origin: Vec<Origin>,
    /// Only memories you have reviewed (true), or have not (false)
    #[arg(long, value_name = "true|false")]
    reviewed: Option<bool>,
    /// Only memories that may be outdated (true), or are not (false)
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    stale: Option<bool>,
    /// Search this project instead of the current one; `all` searches every project
    #[arg(long, value_name = "ID|all")]
    project: Option<String>,
    /// Do not rank the inbox lower
    #[arg(long)]
    include_inbox: bool,
    /// Include superseded and resolved memories
    #[arg(long, short = 'a')]
    all: bool,
    /// Show the closest memories even if none is relevant
    #[arg(long)]
    anyway: bool,
    /// Explain every score, and why other memories were left out
    #[arg(long)]
    explain: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

fn priority(text: &str) -> Result<Priority, String> {
    let found = Priority::ALL.into_iter().find(|priority| priority.as_str() == text);
    found.ok_or_else(|| "the priority must be low, medium or high".to_owned())
}

fn source(text: &str) -> Result<DocumentSource, String> {
    let found = DocumentSource::ALL.into_iter().find(|source| source.as_str() == text);
    found.ok_or_else(|| {
        "the source must be entry, skill, memory, observation, proposal, idea, daily, note or message"
            .to_owned()
    })
}

impl RecallArgs {
    /// Runs the search. With `--json`, a failure is printed as an object with message and hint (REC-20).
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let json = self.json;
        let done = CommandContext::new(global, out).and_then(|context| self.answer(&context));
        match done {
            Err(failure) if json && !failure.silent => {
                out.json(&json!({"error": {"message": failure.message, "hint": failure.hint}}))?;
                Err(CliError { silent: true, ..failure })
            }
            other => other,
        }
    }

    fn answer(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let query = text_argument::prompt(&self.query, &context.cwd)?;
        let k = self.k.unwrap_or(context.settings.config.recall.k);
        if k > MAX_LISTED_RESULTS {
            return Err(CliError::usage(format!("--k must be {MAX_LISTED_RESULTS} at most, not {k}"))
                .hint("to list every memory, use `rekindle list`"));
        }
        if !context.settings.config.memory.enabled {
            context.out.warn("memory is off (memory.enabled), so nothing is recalled");
            return match self.json {
                true => context.out.json(&empty(&query, "memory is switched off")),
                false => Ok(()),
            };
        }
        let wanted = RecallQuestion {
            query: &query,
            k,
            filters: self.filters(&context.now),
            project: self.project.clone(),
            include_inbox: self.include_inbox,
            anyway: self.anyway,
        };
        let (answer, report) = recall_and_log(context, &wanted, "command")?;
        for degraded in answer.degraded.iter().filter(|_| !self.json) {
            context.out.warn(degraded.explain());
        }
        match self.json {
            true => context.out.json(&report),
            false => self.show(context, &answer),
        }
    }

    fn filters(&self, now: &Zoned) -> RecallFilters {
        RecallFilters {
            groups: self.group.iter().map(|group| group.folder_name().to_owned()).collect(),
            kinds: self.kind.clone(),
            sources: self.source.clone(),
            tags: self.tags.clone(),
            since: self.since.map(|since| since.start(now)),
            until: self.until.map(|until| until.end(now)),
            priority: self.priority,
            origins: self.origin.clone(),
            reviewed: self.reviewed,
            stale: self.stale,
            inactive: self.all,
        }
    }

    fn show(&self, context: &CommandContext<'_>, answer: &RecallAnswer) -> Result<(), CliError> {
        let out = context.out;
        for (hit, shown) in answer.selection.hits.iter().zip(&answer.passages) {
            out.write(row(context, hit, shown, self.explain).as_bytes())?;
        }
        if self.explain && !answer.selection.dropped.is_empty() {
            out.line(out.styled(TextStyle::Dim, "Left out:"))?;
            for dropped in &answer.selection.dropped {
                let rule = json!(dropped.rule);
                let rule = explain::rule(rule.as_str().unwrap_or_default());
                let row = format!("  {:.3}  {}  {}  {rule}", dropped.score, dropped.id, dropped.title);
                out.line(out.styled(TextStyle::Dim, row))?;
            }
        }
        if let Some(decision) = answer.decision.filter(|_| self.explain) {
            out.line(out.styled(TextStyle::Dim, explain::gate(&decision)))?;
        }
        if let Some(decision) = answer.decision.filter(|_| answer.abstained) {
            let near = !answer.selection.dropped.is_empty();
            let hint = if near { " Show the closest with `--anyway`." } else { "" };
            out.note(format!("{}{hint}", decision.reason.explain()));
        } else if answer.selection.hits.is_empty() {
            out.note("Nothing found.");
        }
        Ok(())
    }
}

fn row(context: &CommandContext<'_>, hit: &RecallHit, shown: &ShownPassage, explain: bool) -> String {
    let out = context.out;
    let document = &hit.document;
    let place = hit_location(document, shown);
    let day = document.created.map(|at| context.day(at));
    let marks = [
        (!document.reviewed).then(|| "unreviewed".to_owned()),
        document.inbox.then(|| "inbox".to_owned()),
        document.stale.then(|| "stale".to_owned()),
        (!document.active).then(|| "no longer holds".to_owned()),
        (!hit.doubts.is_empty()).then(|| "contradicted".to_owned()),
        shown.refreshed.then(|| "changed since it was indexed".to_owned()),
        observation_count(context, hit),
    ];
    let marks: Vec<String> = marks.into_iter().flatten().collect();
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    let mut text: String = shown.text.trim().lines().map(|line| format!("{line}\n")).collect();
    let score = Some(format!("{:.3}", hit.ranked.score));
    let about = [Some(place), Some(document.id.clone()), day, score];
    let about = about.into_iter().flatten().collect::<Vec<_>>().join("  ") + &marks;
    text.push_str(&format!("  {}\n", out.styled(TextStyle::Dim, about)));
    if explain {
        for line in explain::score_table(&result(hit, shown)) {
            text.push_str(&format!("    {}\n", out.styled(TextStyle::Dim, line)));
        }
    }
    text.push('\n');
    text
}

/// The number of observations with their dates, if there are several (STO-16).
fn observation_count(context: &CommandContext<'_>, hit: &RecallHit) -> Option<String> {
    let (first, last) = (hit.lineage.first()?, hit.lineage.last()?);
    let day = |mention: &ObservationMention| mention.created.map(|at| context.day(at));
    let span = match (day(first), day(last)) {
        (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
        _ => String::new(),
    };
    Some(format!("observed {} times{span}", hit.lineage.len()))
}

fn empty(query: &str, why: &str) -> Value {
    json!({
        "query": quoted(query),
        "rewrittenQuery": Value::Null,
        "filtersApplied": [],
        "droppedByTrustPass": 0,
        "abstained": true,
        "silence": Value::Null,
        "switchedOff": why,
        "degraded": [],
        "documents": 0,
        "tookMs": 0,
        "results": [],
        "dropped": [],
    })
}
