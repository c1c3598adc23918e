//! `rekindle recall`

use std::cell::LazyCell;
use std::collections::HashSet;
use std::time::Instant;

use clap::Args;
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::{Typed, Zoned, iso};
use rekindle_core::recall::document::{Document, Source};
use rekindle_core::recall::filter::Filters;
use rekindle_core::recall::merge::{self, Mention};
use rekindle_core::recall::rewrite::Rewrite;
use rekindle_core::recall::select::{Hit, MOST_LISTED};
use rekindle_core::text;
use rekindle_core::vault::layout::Group;
use rekindle_core::vault::priority::Priority;
use rekindle_engine::index::Embedder;
use rekindle_engine::messages::Messages;
use rekindle_engine::recall::ask::{Answer, Request, Shown, ask};
use rekindle_engine::recall::log::Log;
use rekindle_engine::recall::relevance_gate::reading::Reading;
use rekindle_engine::recall::search::Rules;
use rekindle_engine::recall::usage::Usage;
use serde_json::{Value, json};

use super::{body, explain};
use crate::cli::Global;
use crate::compose::Context;
use crate::error::Failure;
use crate::output::{Printer, Style};

#[derive(Args)]
#[command(after_help = "\
Memories of the project you are in and those that hold everywhere are found; another project's stay there unless
--project names it. What nobody has reviewed yet is found as well, ranks lower and says so. Where the notes leave room,
what was said in sessions (`rekindle backfill`) comes last: `--source message` shows only that.

Examples:
  rekindle recall 'which port does the staging database use?'
  rekindle recall 'how do we release' --group personal-skills --k 3
  rekindle recall 'flaky test' --since 2026-10-01 --priority high --json
  rekindle recall 'why did we drop redis' --explain
  git log -1 --format=%B | rekindle recall -")]
pub(crate) struct Recall {
    /// What to find: TEXT, @FILE, or - for stdin
    #[arg(value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    query: String,
    /// How many memories at most
    #[arg(long, short = 'k', value_name = "N")]
    k: Option<usize>,
    /// Only this group; may be given several times
    #[arg(long)]
    group: Vec<Group>,
    /// Only this sort (fix, preference, …); may be given several times
    #[arg(long)]
    kind: Vec<String>,
    /// Only from here: entry, skill, memory, observation, proposal, idea, daily, note, message
    #[arg(long, value_parser = source)]
    source: Vec<Source>,
    /// Only with this tag; several must all be there
    #[arg(long = "tag", short = 't', value_name = "TAG")]
    tags: Vec<String>,
    /// Only what was written then or later: 2026-11-15, yesterday, 2w, "3 days ago"
    #[arg(long, value_name = "DATE")]
    since: Option<Typed>,
    /// Only what was written then or earlier
    #[arg(long, value_name = "DATE")]
    until: Option<Typed>,
    /// Only of this priority or higher: low, medium, high
    #[arg(long, value_parser = priority)]
    priority: Option<Priority>,
    /// Only what these words support: user, agent, import, tool
    #[arg(long)]
    origin: Vec<Origin>,
    /// Only what a person has reviewed (true) or has not (false)
    #[arg(long, value_name = "true|false")]
    reviewed: Option<bool>,
    /// Only what may be outdated (true), or only what is not (false)
    #[arg(long, value_name = "true|false", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    stale: Option<bool>,
    /// Look into this project instead of the one you are in; `all` looks into every one
    #[arg(long, value_name = "ID|all")]
    project: Option<String>,
    /// Rank what waits in the inbox like everything else
    #[arg(long)]
    include_inbox: bool,
    /// What was superseded or resolved as well
    #[arg(long, short = 'a')]
    all: bool,
    /// Show the nearest even where recall would rather stay silent
    #[arg(long)]
    anyway: bool,
    /// Show what each score is made of, and what was left out by which rule
    #[arg(long)]
    explain: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

fn priority(text: &str) -> Result<Priority, String> {
    let found = Priority::ALL.into_iter().find(|priority| priority.word() == text);
    found.ok_or_else(|| "a priority is low, medium or high".to_owned())
}

fn source(text: &str) -> Result<Source, String> {
    let found = Source::ALL.into_iter().find(|source| source.word() == text);
    found.ok_or_else(|| {
        "a source is entry, skill, memory, observation, proposal, idea, daily, note or message".to_owned()
    })
}

impl Recall {
    /// With `--json` a failure is an answer too: one object that says what and what to do (REC-20).
    pub(crate) fn run(self, global: &Global, out: &Printer) -> Result<(), Failure> {
        let json = self.json;
        let done = Context::new(global, out).and_then(|context| self.answer(&context));
        match done {
            Err(failure) if json && !failure.silent => {
                out.json(&json!({"error": {"message": failure.message, "hint": failure.hint}}))?;
                Err(Failure { silent: true, ..failure })
            }
            other => other,
        }
    }

    fn answer(self, context: &Context<'_>) -> Result<(), Failure> {
        let query = body::prompt(&self.query, &context.cwd)?;
        let k = self.k.unwrap_or(context.settings.config.recall.k);
        if k > MOST_LISTED {
            return Err(Failure::usage(format!("--k is at most {MOST_LISTED}, not {k}"))
                .hint("`rekindle list` shows every memory"));
        }
        if !context.settings.config.memory.enabled {
            context.out.warn("memory is switched off by memory.enabled, so nothing is recalled");
            return match self.json {
                true => context.out.json(&empty(&query, "memory is switched off")),
                false => Ok(()),
            };
        }
        let wanted = Wanted {
            query: &query,
            k,
            filters: self.filters(&context.now),
            project: self.project.clone(),
            include_inbox: self.include_inbox,
            anyway: self.anyway,
        };
        let (answer, report) = look_up(context, &wanted, "command")?;
        for degraded in answer.degraded.iter().filter(|_| !self.json) {
            context.out.warn(degraded.explain());
        }
        match self.json {
            true => context.out.json(&report),
            false => self.show(context, &answer),
        }
    }

    fn filters(&self, now: &Zoned) -> Filters {
        Filters {
            groups: self.group.iter().map(|group| group.word().to_owned()).collect(),
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

    fn show(&self, context: &Context<'_>, answer: &Answer) -> Result<(), Failure> {
        let out = context.out;
        for (hit, shown) in answer.selection.hits.iter().zip(&answer.shown) {
            out.write(row(context, hit, shown, self.explain).as_bytes())?;
        }
        if self.explain && !answer.selection.dropped.is_empty() {
            out.line(out.styled(Style::Dim, "Left out:"))?;
            for dropped in &answer.selection.dropped {
                let rule = json!(dropped.rule);
                let rule = explain::rule(rule.as_str().unwrap_or_default());
                let row = format!("  {:.3}  {}  {}  {rule}", dropped.score, dropped.id, dropped.title);
                out.line(out.styled(Style::Dim, row))?;
            }
        }
        if let Some(decision) = answer.decision.filter(|_| self.explain) {
            out.line(out.styled(Style::Dim, explain::gate(&decision)))?;
        }
        if let Some(decision) = answer.decision.filter(|_| answer.abstained) {
            let near = !answer.selection.dropped.is_empty();
            let how = if near { " Show the closest with `--anyway`." } else { "" };
            out.note(format!("{}{how}", decision.reason.explain()));
        } else if answer.selection.hits.is_empty() {
            out.note("Nothing found.");
        }
        Ok(())
    }
}

/// What is looked for, and how.
pub(crate) struct Wanted<'a> {
    pub(crate) query: &'a str,
    pub(crate) k: usize,
    pub(crate) filters: Filters,
    /// Another project than the one at hand, or `all`.
    pub(crate) project: Option<String>,
    pub(crate) include_inbox: bool,
    /// Even where it would rather stay silent.
    pub(crate) anyway: bool,
}

/// Looks it up, says how it was found (REC-07), and leaves a line in the log, `by` whom.
pub(crate) fn look_up(
    context: &Context<'_>,
    wanted: &Wanted<'_>,
    by: &str,
) -> Result<(Answer, Value), Failure> {
    let start = Instant::now();
    let vault = context.vault()?;
    let (model, index) = (context.model_if_any(), context.index());
    let usage = LazyCell::new(|| Usage::read(&context.places.usage()));
    let here = context.project_id().map(|id| id.as_str().to_owned());
    let named = wanted.project.clone().filter(|project| project != "all");
    let project = named.or(here);
    let rewrite = context.rewrite(wanted.query);
    let messages = Messages::of(&context.places);
    let request = Request {
        prompt: wanted.query,
        rewritten: rewrite.rewritten(),
        filters: &wanted.filters,
        rules: Rules {
            include_inbox: wanted.include_inbox,
            all_projects: wanted.project.as_deref() == Some("all"),
            inactive: wanted.filters.inactive,
            ..Rules::of(&context.settings.config.recall, project.as_deref(), &context.now)
        },
        k: wanted.k,
        anyway: wanted.anyway,
        reading: if wanted.anyway { Reading::Thorough } else { Reading::AsNeeded },
        held: &HashSet::new(),
        mentions: true,
        messages: Some(&messages),
        leave_out: |_| false,
    };
    let embedder = model.as_ref().map(|model| Embedder::new(model.name(), model));
    let answer = ask(&vault, &index, embedder, usage, &request)?;
    let took = start.elapsed().as_secs_f64() * 1000.0;
    let report = report(wanted.query, &rewrite, &wanted.filters, &answer, took);
    log(context, &report, by);
    let shown: Vec<&str> = answer.selection.hits.iter().map(|hit| hit.document.id.as_str()).collect();
    // How often something was recalled decides whether it is outdated (FBK-04); nobody waits for that.
    Usage::recalled(&context.places.usage(), &shown, context.now.timestamp()).unwrap_or_default();
    if answer.is_worth_indexing() {
        context.index_later();
    }
    Ok((answer, report))
}

/// Every recall leaves a line (REC-23). One that cannot be written keeps nobody from the answer.
fn log(context: &Context<'_>, report: &Value, by: &str) {
    let mut line = json!({
        "at": iso(context.now.timestamp()),
        "project": context.project_id(),
        "by": by,
    });
    if let (Some(line), Some(report)) = (line.as_object_mut(), report.as_object()) {
        line.extend(report.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    if let Err(error) = Log::at(&context.places.logs()).append(&line) {
        context.out.warn(format!("what was recalled could not be written down: {error}"));
    }
}

/// Where a hit is, as editors take it.
pub(crate) fn place(document: &Document, shown: &Shown) -> String {
    match shown.lines {
        Some((first, last)) if first != last => format!("{}:{first}-{last}", document.path),
        Some((first, _)) => format!("{}:{first}", document.path),
        None => document.path.clone(),
    }
}

fn row(context: &Context<'_>, hit: &Hit, shown: &Shown, explain: bool) -> String {
    let out = context.out;
    let document = &hit.document;
    let place = place(document, shown);
    let day = document.created.map(|at| context.day(at));
    let marks = [
        (!document.reviewed).then(|| "unreviewed".to_owned()),
        document.inbox.then(|| "inbox".to_owned()),
        document.stale.then(|| "stale".to_owned()),
        (!document.active).then(|| "no longer holds".to_owned()),
        (!hit.doubts.is_empty()).then(|| "contradicted".to_owned()),
        shown.refreshed.then(|| "changed since it was indexed".to_owned()),
        seen(context, hit),
    ];
    let marks: Vec<String> = marks.into_iter().flatten().collect();
    let marks = if marks.is_empty() { String::new() } else { format!(" ({})", marks.join(", ")) };
    let mut text: String = shown.text.trim().lines().map(|line| format!("{line}\n")).collect();
    let score = Some(format!("{:.3}", hit.ranked.score));
    let about = [Some(place), Some(document.id.clone()), day, score];
    let about = about.into_iter().flatten().collect::<Vec<_>>().join("  ") + &marks;
    text.push_str(&format!("  {}\n", out.styled(Style::Dim, about)));
    if explain {
        for line in explain::score_table(&result(hit, shown)) {
            text.push_str(&format!("    {}\n", out.styled(Style::Dim, line)));
        }
    }
    text.push('\n');
    text
}

/// How often it was observed, and from when to when, if more than once (STO-16).
fn seen(context: &Context<'_>, hit: &Hit) -> Option<String> {
    let (first, last) = (hit.lineage.first()?, hit.lineage.last()?);
    let day = |mention: &Mention| mention.created.map(|at| context.day(at));
    let span = match (day(first), day(last)) {
        (Some(first), Some(last)) if first != last => format!(", {first} to {last}"),
        _ => String::new(),
    };
    Some(format!("observed {} times{span}", hit.lineage.len()))
}

/// The answer of REC-07 and REC-15. What it quotes has passed redaction again (B-03): a file may have changed since it
/// was indexed.
pub(crate) fn report(query: &str, rewrite: &Rewrite, filters: &Filters, answer: &Answer, took: f64) -> Value {
    let results: Vec<Value> =
        answer.selection.hits.iter().zip(&answer.shown).map(|(hit, shown)| result(hit, shown)).collect();
    json!({
        "query": quoted(query),
        "rewrittenQuery": rewrite.rewritten(),
        "rewriteFailed": match rewrite {
            Rewrite::Failed { why } => Some(why.to_string()),
            Rewrite::Disabled | Rewrite::Done { .. } => None,
        },
        "filtersApplied": filters.applied(),
        "droppedByTrustPass": answer.selection.dropped_by_trust(),
        "abstained": answer.abstained,
        "silence": answer.decision,
        "degraded": answer.degraded,
        "documents": answer.documents,
        "tookMs": (took * 100.0).round() / 100.0,
        "results": results,
        "dropped": answer.selection.dropped,
    })
}

fn result(hit: &Hit, shown: &Shown) -> Value {
    let document = &hit.document;
    json!({
        "id": document.id,
        "path": document.path,
        "lines": shown.lines,
        "title": document.title,
        "text": text::admit(&shown.text).text,
        "score": hit.ranked.score,
        "parts": hit.ranked.parts,
        "factors": hit.ranked.factors,
        "source": document.source,
        "kind": document.kind,
        "group": document.group,
        "tags": document.tags,
        "project": document.project,
        "origin": document.origin,
        "reviewed": document.reviewed,
        "inbox": document.inbox,
        "stale": document.stale,
        "priority": document.priority,
        "created": document.created.map(iso),
        "doubts": hit.doubts,
        "refreshed": shown.refreshed,
        "confidence": (document.source == Source::Observation)
            .then(|| merge::confidence(document.origin, &hit.lineage)),
        "observed": (!hit.lineage.is_empty()).then(|| json!({
            "times": hit.lineage.len(),
            "sessions": merge::sessions(&hit.lineage),
            "first": hit.lineage.first().and_then(|mention| mention.created).map(iso),
            "last": hit.lineage.last().and_then(|mention| mention.created).map(iso),
            "places": hit.lineage,
        })),
    })
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

/// The longest part of a prompt that is repeated in an answer and in the log.
const QUOTED_CHARS: usize = 2000;

fn quoted(query: &str) -> String {
    text::admit(query).text.chars().take(QUOTED_CHARS).collect()
}
