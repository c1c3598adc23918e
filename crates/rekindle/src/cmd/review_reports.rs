//! Reports of `rekindle review`: automatic decisions, acceptance by category, and a consistency check.

use rekindle_core::base::time::{day, format_utc};
use rekindle_core::text::clean::one_line;
use rekindle_engine::platform::db::Database;
use rekindle_engine::review::proposals;
use serde_json::{Value, json};

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

/// The most characters of a proposal in a list.
const MAX_TEXT_CHARS: usize = 160;

/// Lists the automatic decisions that were not undone (REV-09).
pub(super) fn show_automatic(
    context: &CommandContext<'_>,
    db: &Database,
    as_json: bool,
) -> Result<(), CliError> {
    let decided = proposals::automatic_decisions(db)?;
    if as_json {
        let decided: Vec<Value> = decided
            .iter()
            .map(|(record, line)| {
                json!({
                    "id": record.proposal.id, "status": record.proposal.status, "text": record.text(),
                    "why": line.why, "at": format_utc(line.at), "with": line.decided_with,
                })
            })
            .collect();
        return context.out.json(&json!({"automatic": decided}));
    }
    for (record, line) in &decided {
        let id = context.out.styled(TextStyle::Bold, record.proposal.id);
        let date = day(line.at.to_zoned(context.now.time_zone().clone()).date());
        let why = line.why.map_or_else(String::new, |why| format!(": {}", why.phrase()));
        context.out.line(format!("{id}  {} on {date}{why}", record.proposal.status.as_str()))?;
        context.out.line(format!("  {}", one_line(record.text(), MAX_TEXT_CHARS)))?;
    }
    context.out.note(match decided.len() {
        0 => "No automatic decisions.",
        _ => "Undo one with `rekindle undo ID`; you will be asked about it again.",
    });
    Ok(())
}

/// Shows the person's acceptance by category (FUT-03).
pub(super) fn show_stats(context: &CommandContext<'_>, db: &Database, as_json: bool) -> Result<(), CliError> {
    let accepted = proposals::acceptance_stats(db)?;
    let needed = context.settings.config.review.earn;
    if as_json {
        let categories: Vec<Value> = accepted
            .iter()
            .map(|(category, counts)| {
                json!({
                    "source": category.source, "section": category.section, "counts": counts,
                    "rate": counts.acceptance_rate(), "earned": counts.has_earned(needed),
                })
            })
            .collect();
        return context.out.json(&json!({"needed": needed, "categories": categories}));
    }
    if accepted.is_empty() {
        context.out.note("No decisions yet.");
        return Ok(());
    }
    let head = "approved  edited  rejected  expired  undone       automatic  in a row";
    context.out.line(format!(
        "{}  {}",
        pad_column("category", 32),
        context.out.styled(TextStyle::Dim, head)
    ))?;
    for (category, counts) in &accepted {
        let name = pad_column(&format!("{}: {}", category.source, one_line(&category.section, 20)), 32);
        let row = if counts.has_earned(needed) {
            format!("{} (promoted without asking)", counts.straight)
        } else {
            format!("{} of {needed}", counts.straight)
        };
        context.out.line(format!(
            "{name}  {:>8}  {:>6}  {:>8}  {:>7}  {:>6}  {:>14}  {row}",
            counts.approved,
            counts.edited,
            counts.rejected,
            counts.expired,
            counts.undone,
            counts.promoted + counts.dropped,
        ))?;
    }
    Ok(())
}

/// Checks that every proposal is open or was decided exactly once (REV-14).
pub(super) fn check(context: &CommandContext<'_>, db: &Database, as_json: bool) -> Result<(), CliError> {
    let wrong = proposals::check(db)?;
    if as_json {
        context.out.json(&json!({"sound": wrong.is_empty(), "wrong": wrong}))?;
    }
    if wrong.is_empty() {
        if !as_json {
            context.out.line("Every proposal is pending or was decided exactly once.")?;
        }
        return Ok(());
    }
    Err(CliError::new(wrong.join("\n"))
        .hint("see `rekindle runs` for what ran; retry what failed with `rekindle retry`"))
}
