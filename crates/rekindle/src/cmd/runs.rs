//! `rekindle runs`: lists background runs.

use clap::Args;
use jiff::SignedDuration;
use rekindle_core::base::time::format_utc;
use rekindle_core::run::RunStatus;
use rekindle_engine::jobs::queue::{RunFilter, RunQueue, RunRecord, StepRecord};
use serde_json::{Value, json};

use super::id_match;
use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle runs
  rekindle runs --status COMPLETED --hours 1
  rekindle runs --dead
  rekindle runs --json | jq -r 'select(.status == \"SKIPPED\") | .reason'")]
pub(crate) struct RunsArgs {
    /// Only runs with this status: RUNNING, COMPLETED, SKIPPED, FAILED or DEAD
    #[arg(long, value_parser = status, conflicts_with = "dead")]
    status: Option<RunStatus>,
    /// Only runs of the last N hours
    #[arg(long, value_name = "N")]
    hours: Option<u32>,
    /// Only runs that failed for good; `rekindle retry` retries them
    #[arg(long)]
    dead: bool,
    /// Only runs about this session; the beginning of its id is enough
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// List at most this many
    #[arg(long, short = 'n', value_name = "N")]
    number: Option<u32>,
    /// Answer as JSON, one object a line
    #[arg(long)]
    json: bool,
}

fn status(text: &str) -> Result<RunStatus, String> {
    RunStatus::parse(text).ok_or_else(|| {
        let words: Vec<&str> = RunStatus::ALL.iter().map(|status| status.as_str()).collect();
        format!("one of {}", words.join(", "))
    })
}

impl RunsArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let since =
            self.hours.map(|hours| context.now.timestamp() - SignedDuration::from_hours(i64::from(hours)));
        let filter = RunFilter {
            status: if self.dead { Some(RunStatus::Dead) } else { self.status },
            since,
            session: self.session,
            limit: self.number.or(if self.json { None } else { Some(50) }),
        };
        let Some(queue) = context.queue()? else {
            if !self.json {
                context.out.note("No runs yet. Connect an agent with `rekindle install`.");
            }
            return Ok(());
        };
        let filter = RunFilter { session: resolve_session(&queue, filter.session)?, ..filter };
        let runs = queue.history(&filter)?;
        if self.json {
            for run in &runs {
                context.out.line(object(run, false))?;
            }
            return Ok(());
        }
        if runs.is_empty() {
            context.out.note("No matching runs.");
        }
        for run in &runs {
            let what =
                run.reason.as_ref().or(run.error.as_ref()).map_or(String::new(), |text| format!("  {text}"));
            let session = run.session.as_deref().unwrap_or("");
            context.out.line(format!(
                "{}  {}  {}  {}  {}{what}",
                context.out.styled(TextStyle::Dim, tail(&run.id)),
                format_utc(run.created),
                pad_column(run.status.as_str(), 9),
                pad_column(&run.function, 21),
                pad_column(session, 12),
            ))?;
        }
        Ok(())
    }
}

/// Resolves the beginning of a session id. An unknown one is kept, and has no runs.
fn resolve_session(queue: &RunQueue, typed: Option<String>) -> Result<Option<String>, CliError> {
    let Some(typed) = typed else { return Ok(None) };
    let known = queue.sessions()?;
    Ok(id_match::session(&typed, known.iter().map(String::as_str))?.or(Some(typed)))
}

/// The last characters of an id, which are enough to name it.
pub(crate) fn tail(id: &str) -> &str {
    id.get(id.len().saturating_sub(8)..).unwrap_or(id)
}

/// Renders a run as JSON, with the results of its steps if `whole` is true.
pub(crate) fn object(run: &RunRecord, whole: bool) -> Value {
    let at = |at: Option<rekindle_core::base::time::Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": run.id,
        "function": run.function,
        "status": run.status,
        "sessionId": run.session,
        "event": run.event,
        "trigger": run.trigger,
        "reason": run.reason,
        "error": run.error,
        "attempts": run.attempts,
        "created": run.created.to_string(),
        "started": at(run.started),
        "ended": at(run.ended),
        "nextAttempt": at(run.due),
        "output": run.output,
        "steps": run.steps.iter().map(|step| trace(step, whole)).collect::<Vec<Value>>(),
    })
}

fn trace(step: &StepRecord, whole: bool) -> Value {
    let mut trace = json!({
        "name": step.name,
        "status": if step.result.is_some() { "COMPLETED" } else if step.error.is_some() { "FAILED" } else { "RUNNING" },
        "attempts": step.attempts,
        "started": step.started.to_string(),
        "ended": step.ended.map(|at| at.to_string()),
        "error": step.error,
    });
    if let (true, Value::Object(fields)) = (whole, &mut trace) {
        fields.insert("result".to_owned(), step.result.clone().unwrap_or(Value::Null));
    }
    trace
}
