//! `rekindle run`: shows one background run.

use clap::Args;
use rekindle_core::base::time::format_utc;
use rekindle_engine::jobs::queue::{RunQueue, RunRecord as Found};
use serde_json::{Value, json};

use super::runs::{object, tail};
use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle run 7QK2M4XA
  rekindle run 7QK2M4XA --json | jq .event.data.messages -r")]
pub(crate) struct RunArgs {
    /// The id of the run, or a part of it, as `rekindle runs` shows it
    id: String,
    /// Answer as JSON, with the event and what each step returned
    #[arg(long)]
    json: bool,
}

/// Finds the run of an id; an ambiguous id is an error.
pub(crate) fn find(queue: Option<&RunQueue>, id: &str) -> Result<Found, CliError> {
    let mut runs = match queue {
        Some(queue) if id.len() >= 4 => queue.find(id)?,
        _ => Vec::new(),
    };
    match (runs.pop(), runs.is_empty()) {
        (Some(run), true) => Ok(run),
        (Some(_), false) => {
            Err(CliError::usage(format!("several runs match `{id}`")).hint("use more characters of the id"))
        }
        (None, _) => Err(CliError::usage(format!("no run matches `{id}`"))
            .hint("list runs with `rekindle runs`; use at least four characters of the id")),
    }
}

impl RunArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let queue = context.queue()?;
        let run = find(queue.as_ref(), &self.id)?;
        let event = match &queue {
            Some(queue) => queue.event(&run.event)?,
            None => None,
        };
        if self.json {
            let mut whole = object(&run, true);
            if let (Value::Object(fields), Some(event)) = (&mut whole, event) {
                let event = json!({"id": event.id, "name": event.name, "at": event.at.to_string(), "data": event.data});
                fields.insert("event".to_owned(), event);
            }
            return context.out.json(&whole);
        }
        let out = context.out;
        out.line(format!("{}  {}  {}", run.id, run.function, run.status))?;
        out.line(format!("  because of  {} ({})", run.trigger, run.event))?;
        if let Some(session) = &run.session {
            out.line(format!("  session     {session}"))?;
        }
        out.line(format!("  asked for   {}, {} attempts", format_utc(run.created), run.attempts))?;
        for (word, text) in [("skipped", &run.reason), ("went wrong", &run.error)] {
            if let Some(text) = text {
                out.line(format!("  {}  {text}", pad_column(word, 10)))?;
            }
        }
        if let Some(due) = run.due {
            out.line(format!("  next        {}", format_utc(due)))?;
        }
        if !run.steps.is_empty() {
            out.line(format!("  {}  {}  result", pad_column("step", 18), pad_column("took", 8)))?;
        }
        for step in &run.steps {
            let took = step.ended.map_or_else(
                || "not over".to_owned(),
                |ended| format!("{} ms", ended.duration_since(step.started).as_millis()),
            );
            let outcome = match (&step.result, &step.error) {
                (Some(result), _) => shorten_result(&in_words(result)),
                (None, Some(error)) => format!("failed: {error}"),
                (None, None) => String::new(),
            };
            out.line(format!(
                "  {}  {}  {}",
                pad_column(&step.name, 18),
                pad_column(&took, 8),
                out.styled(TextStyle::Dim, outcome)
            ))?;
        }
        if run.status == rekindle_core::run::RunStatus::Dead {
            out.note(format!("Retry it from the failed step with `rekindle retry {}`.", tail(&run.id)));
        }
        Ok(())
    }
}

/// Renders the result of a step in one line: lists are counted, and nested values are left out.
fn in_words(result: &Value) -> String {
    let value = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items)
            if items.iter().all(|item| item.is_string() || item.is_number()) && items.len() <= 3 =>
        {
            let items: Vec<String> = items
                .iter()
                .map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned))
                .collect();
            if items.is_empty() { "none".to_owned() } else { items.join(", ") }
        }
        Value::Array(items) => format!("{} items", items.len()),
        Value::Object(fields) => format!("{} fields", fields.len()),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null => "none".to_owned(),
    };
    match result {
        Value::Null => "done".to_owned(),
        Value::Object(fields) => {
            let rows: Vec<String> =
                fields.iter().map(|(name, field)| format!("{name} {}", value(field))).collect();
            if rows.is_empty() { "done".to_owned() } else { rows.join(" · ") }
        }
        other => value(other),
    }
}

/// Shortens a long result.
fn shorten_result(text: &str) -> String {
    match text.char_indices().nth(100) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
