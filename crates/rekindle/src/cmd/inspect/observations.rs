//! `rekindle inspect --observations`: the hot list (STO-01, STO-02).

use rekindle_core::base::time::day;
use rekindle_engine::pipeline::observations::{self, ObservationRecord};
use rekindle_engine::platform::db::Database;
use serde_json::json;

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::TextStyle;

pub(super) fn show_observations(
    context: &CommandContext<'_>,
    days: u16,
    as_json: bool,
) -> Result<(), CliError> {
    let out = context.out;
    let today = context.now.date();
    let from = today.checked_sub(jiff::Span::new().days(i64::from(days) - 1)).map_err(CliError::usage)?;
    let entries = match Database::open_existing(&context.places.database())? {
        Some(db) => observations::in_date_range(&db, from, today)?,
        None => Vec::new(),
    };
    if as_json {
        return out.json(&json!(entries.iter().map(ObservationRecord::json).collect::<Vec<_>>()));
    }
    for entry in &entries {
        let project = entry.project.as_ref().map_or("no project", |project| project.as_str());
        let head = format!("{}  {}  {project}", day(entry.day), entry.session);
        out.line(out.styled(TextStyle::Bold, head))?;
        for finding in entry.observed.findings() {
            let when = finding.when.map_or_else(String::new, |when| format!("{when} "));
            out.line(format!("  {} {when}{} [{}]", finding.priority.emoji(), finding.text, finding.origin))?;
        }
    }
    if entries.is_empty() {
        out.note("No observations in this period. Older ones are in the daily logs.");
    }
    Ok(())
}
