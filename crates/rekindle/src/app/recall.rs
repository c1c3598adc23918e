//! Recall: searches memories and explains the ranking.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::time::Instant;

use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::format_utc;
use rekindle_core::recall::document::{Document, DocumentSource};
use rekindle_core::recall::filter::RecallFilters;
use rekindle_core::recall::merge;
use rekindle_core::recall::rewrite::RewriteOutcome;
use rekindle_core::recall::select::RecallHit;
use rekindle_core::text;
use rekindle_engine::index::Embedder;
use rekindle_engine::recall::ask::{RecallAnswer, RecallRequest, ShownPassage, ask};
use rekindle_engine::recall::log::RecallLog;
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::recall::relevance_gate::reading::RescoringMode;
use rekindle_engine::recall::search::SearchRules;
use rekindle_engine::recall::usage::UsageSummary;
use serde_json::{Value, json};

use super::CommandContext;
use crate::error::CliError;

/// The most characters of a query that are repeated in an answer and in the log.
const MAX_QUOTED_CHARS: usize = 2000;

/// A search: the question, its filters and its limits.
pub(crate) struct RecallQuestion<'a> {
    pub(crate) query: &'a str,
    pub(crate) k: usize,
    pub(crate) filters: RecallFilters,
    /// Another project than the current one, or `all`.
    pub(crate) project: Option<String>,
    pub(crate) include_inbox: bool,
    /// True to show hits below the relevance gate.
    pub(crate) anyway: bool,
}

/// Searches, reports the ranking (REC-07), and adds a line to the recall log; `by` names the caller.
pub(crate) fn recall_and_log(
    context: &CommandContext<'_>,
    wanted: &RecallQuestion<'_>,
    by: &str,
) -> Result<(RecallAnswer, Value), CliError> {
    let (answer, report) = recall(context, wanted)?;
    log(context, &report, by);
    let shown: Vec<&str> = answer.selection.hits.iter().map(|hit| hit.document.id.as_str()).collect();
    // The number of recalls decides if a memory is outdated (FBK-04).
    UsageSummary::record_recalled(&context.places.usage(), &shown, context.now.timestamp())
        .ignore_failure("the answer matters more than the count");
    if answer.is_worth_indexing() {
        context.index_later();
    }
    Ok((answer, report))
}

/// Searches and reports the ranking, and leaves no trace: for a question that is still being typed.
pub(crate) fn recall(
    context: &CommandContext<'_>,
    wanted: &RecallQuestion<'_>,
) -> Result<(RecallAnswer, Value), CliError> {
    let start = Instant::now();
    let vault = context.vault()?;
    let (model, index) = (context.model_if_any(), context.index());
    let usage = LazyCell::new(|| UsageSummary::read(&context.places.usage()));
    let here = context.project_id().map(|id| id.as_str().to_owned());
    let named = wanted.project.clone().filter(|project| project != "all");
    let project = named.or(here);
    let rewrite = context.rewrite(wanted.query);
    let messages = MessageStore::from_paths(&context.places);
    let request = RecallRequest {
        prompt: wanted.query,
        rewritten: rewrite.rewritten(),
        filters: &wanted.filters,
        rules: SearchRules {
            include_inbox: wanted.include_inbox,
            all_projects: wanted.project.as_deref() == Some("all"),
            inactive: wanted.filters.inactive,
            ..SearchRules::from_settings(&context.settings.config.recall, project.as_deref(), &context.now)
        },
        k: wanted.k,
        anyway: wanted.anyway,
        reading: if wanted.anyway { RescoringMode::Thorough } else { RescoringMode::AsNeeded },
        held_ids: &HashSet::new(),
        mentions: true,
        messages: Some(&messages),
        reserved_messages: 0,
        leave_out: |_| false,
    };
    let embedder = model.as_ref().map(|model| Embedder::new(model.name(), model));
    let answer = ask(&vault, &index, embedder, usage, &request)?;
    let took = start.elapsed().as_secs_f64() * 1000.0;
    let report = recall_report(wanted.query, &rewrite, &wanted.filters, &answer, took);
    Ok((answer, report))
}

/// Adds a recall to the log (REC-23). A failed write does not stop the answer.
fn log(context: &CommandContext<'_>, report: &Value, by: &str) {
    let mut line = json!({
        "at": format_utc(context.now.timestamp()),
        "project": context.project_id(),
        "by": by,
    });
    if let (Some(line), Some(report)) = (line.as_object_mut(), report.as_object()) {
        line.extend(report.iter().map(|(key, value)| (key.clone(), value.clone())));
    }
    if let Err(error) = RecallLog::in_folder(&context.places.logs_folder()).append(&line) {
        context.out.warn(format!("could not write the recall log: {error}"));
    }
}

/// The place of a hit in the form that editors accept.
pub(crate) fn hit_location(document: &Document, shown: &ShownPassage) -> String {
    match shown.lines {
        Some((first, last)) if first != last => format!("{}:{first}-{last}", document.path),
        Some((first, _)) => format!("{}:{first}", document.path),
        None => document.path.clone(),
    }
}

/// Builds the answer of REC-07 and REC-15. Quotations are redacted again (B-03), because a file may have
/// changed since it was indexed.
pub(crate) fn recall_report(
    query: &str,
    rewrite: &RewriteOutcome,
    filters: &RecallFilters,
    answer: &RecallAnswer,
    took: f64,
) -> Value {
    let results: Vec<Value> =
        answer.selection.hits.iter().zip(&answer.passages).map(|(hit, shown)| result(hit, shown)).collect();
    json!({
        "query": quoted(query),
        "rewrittenQuery": rewrite.rewritten(),
        "rewriteFailed": match rewrite {
            RewriteOutcome::Failed { why } => Some(why.to_string()),
            RewriteOutcome::Disabled | RewriteOutcome::Done { .. } => None,
        },
        "filtersApplied": filters.applied_filters(),
        "droppedByTrustPass": answer.selection.trust_drop_count(),
        "abstained": answer.abstained,
        "silence": answer.decision,
        "degraded": answer.degraded,
        "documents": answer.documents,
        "tookMs": (took * 100.0).round() / 100.0,
        "results": results,
        "dropped": answer.selection.dropped,
    })
}

/// One hit as JSON.
pub(crate) fn result(hit: &RecallHit, shown: &ShownPassage) -> Value {
    let document = &hit.document;
    json!({
        "id": document.id,
        "path": document.path,
        "lines": shown.lines,
        "title": document.title,
        "text": text::clean_and_redact(&shown.text).text,
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
        "created": document.created.map(format_utc),
        "doubts": hit.doubts,
        "refreshed": shown.refreshed,
        "confidence": (document.source == DocumentSource::Observation)
            .then(|| merge::confidence(document.origin, &hit.lineage)),
        "observed": (!hit.lineage.is_empty()).then(|| json!({
            "times": hit.lineage.len(),
            "sessions": merge::sessions(&hit.lineage),
            "first": hit.lineage.first().and_then(|mention| mention.created).map(format_utc),
            "last": hit.lineage.last().and_then(|mention| mention.created).map(format_utc),
            "places": hit.lineage,
        })),
    })
}

/// The beginning of a query, redacted.
pub(crate) fn quoted(query: &str) -> String {
    text::clean_and_redact(query).text.chars().take(MAX_QUOTED_CHARS).collect()
}
