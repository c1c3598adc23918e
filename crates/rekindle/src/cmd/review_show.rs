//! Shows a proposal in a list or as JSON.

use std::collections::HashMap;

use rekindle_core::base::time::format_utc;
use rekindle_core::text::clean::{clean, one_line};
use rekindle_core::vault::review::ProposalId;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals::{self, ProposalRecord};
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::app::review::describe::{change, expires, outcome_with_author, section, would_hold_in};
use crate::error::CliError;
use crate::output::TextStyle;

/// The most quotations of a proposal that are printed.
const MAX_QUOTES: usize = 3;
/// The most characters of a quotation.
const MAX_QUOTE_CHARS: usize = 160;

/// Shows these proposals with their outcomes.
pub(super) fn show_proposals(
    context: &CommandContext<'_>,
    db: &Database,
    ids: &[ProposalId],
    lost: &HashMap<ProposalId, String>,
    as_json: bool,
) -> Result<(), CliError> {
    let mut found = Vec::new();
    for id in ids {
        let Some(record) = proposals::find_proposal(db, *id)? else {
            return Err(CliError::usage(format!("there is no proposal {id}")));
        };
        found.push(record);
    }
    if as_json {
        let proposals: Vec<Value> = found.iter().map(|record| json(context, record, &[], lost)).collect();
        return context.out.json(&json!({"proposals": proposals}));
    }
    for record in &found {
        print(context, record, &[], lost)?;
        if !record.proposal.status.is_open() {
            context.out.line(format!("  {}", outcome_with_author(context, record)))?;
        }
    }
    Ok(())
}

pub(super) fn print(
    context: &CommandContext<'_>,
    record: &ProposalRecord,
    same: &[ProposalId],
    lost: &HashMap<ProposalId, String>,
) -> Result<(), CliError> {
    let (out, proposal) = (context.out, &record.proposal);
    let age = match record.days(context.now.timestamp()) {
        0 => "today".to_owned(),
        1 => "1 day old".to_owned(),
        days => format!("{days} days old"),
    };
    let sessions = match proposal.evidence.sessions.len() {
        0 | 1 => String::new(),
        many => format!(", {many} sessions"),
    };
    let id = out.styled(TextStyle::Bold, proposal.id);
    let said_at = proposal.evidence.said.map_or_else(String::new, |at| format!(", said {}", context.day(at)));
    let about = format!("[{}{sessions}{said_at}, {age}]", proposal.origin);
    out.line(format!("{id}  {}  {}", section(record), out.styled(TextStyle::Dim, about)))?;
    for line in clean(record.text()).lines() {
        out.line(format!("  {line}"))?;
    }
    let dim = |text: String| out.line(format!("  {}", out.styled(TextStyle::Dim, text)));
    // A change to a file other than MEMORY.md is shown as a diff.
    if proposal.section().is_none()
        && let Some(diff) = change(context, record)
    {
        diff.lines().skip(2).try_for_each(|line| dim(clean(line).into_owned()))?;
    }
    if let Some(old) = &proposal.supersedes {
        dim(format!("instead of: {}", one_line(old, MAX_QUOTE_CHARS)))?;
    }
    if let Some(project) = would_hold_in(context, record).filter(|_| proposal.status.is_open()) {
        dim(format!("applies to {project} only; `--everywhere` applies it to every project"))?;
    }
    if let Some(project) = proposal.project.as_ref().filter(|_| proposal.global_entry().is_some()) {
        dim(format!("applies to {project} now; approve it to apply it to every project"))?;
    }
    if let Some(grade) = &proposal.grade {
        dim(clean(&grade.describe_grade()).into_owned())?;
    }
    for quote in proposal.evidence.quotes.iter().take(MAX_QUOTES) {
        dim(format!("> {}", one_line(quote, MAX_QUOTE_CHARS)))?;
    }
    if !same.is_empty() {
        let ids: Vec<String> = same.iter().map(ToString::to_string).collect();
        dim(format!("{} near-duplicates are decided with it: {}", same.len(), ids.join(", ")))?;
    }
    if let Some(with) = record.decided_with.filter(|_| !proposal.status.is_open()) {
        dim(format!("decided with its near-duplicate {with}"))?;
    }
    if let Some(note) = record.note.as_ref().filter(|_| proposal.status.is_open()) {
        out.line(format!("  {}", out.styled(TextStyle::Warn, format!("pending again: {note}"))))?;
    }
    if let Some(why) = lost.get(&proposal.id) {
        out.line(format!("  {}", out.styled(TextStyle::Warn, why)))?;
    }
    if let Some(left) = expires(context, record) {
        let when = match left {
            0 => "tonight".to_owned(),
            1 => "in 1 day".to_owned(),
            days => format!("in {days} days"),
        };
        out.line(format!("  {}", out.styled(TextStyle::Warn, format!("expires {when}"))))?;
    }
    Ok(())
}

pub(super) fn json(
    context: &CommandContext<'_>,
    record: &ProposalRecord,
    same: &[ProposalId],
    lost: &HashMap<ProposalId, String>,
) -> Value {
    let proposal = &record.proposal;
    json!({
        "id": proposal.id,
        "status": proposal.status,
        "section": section(record),
        "file": proposal.file(),
        "diff": change(context, record),
        "title": proposal.title,
        "text": record.text(),
        "reworded": record.worded.is_some(),
        "supersedes": proposal.supersedes,
        "source": proposal.source,
        "origin": proposal.origin,
        "confidence": proposal.confidence,
        "grade": proposal.grade,
        "evidence": proposal.evidence,
        "project": proposal.project,
        "holds_in": would_hold_in(context, record),
        "created": format_utc(proposal.created),
        "days": record.days(context.now.timestamp()),
        "expires_in_days": expires(context, record),
        "same": same,
        "with": record.decided_with,
        "target_lost": lost.get(&proposal.id),
        "note": record.note,
        "decided": record.decided.map(format_utc),
        "decided_by": record.by,
    })
}
