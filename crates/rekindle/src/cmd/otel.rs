//! `rekindle otel`: shows what the stages did.

use clap::{Args, Subcommand};
use rekindle_core::base::time::format_utc;
use rekindle_core::telemetry::stats::StageStats;
use rekindle_core::telemetry::{EventLevel, TelemetryEvent};
use serde_json::json;

use crate::app::CommandContext;
use crate::app::otel::{self, TelemetryQuery};
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
Every stage reports when it started, completed or failed: hook, recall, capture, observe, reflect, promote and the rest.
An event holds ids, counts and durations, never words of prompts or memories. Events are kept for 30 days;
`memory.log_level` says which. They leave this machine only if you name a collector (`rekindle otel export --help`).

Examples:
  rekindle otel list --hours 2
  rekindle otel list --level warn
  rekindle otel search observe.failed
  rekindle otel stats --json | jq '.stages.hook.p95Ms'")]
pub(crate) struct OtelArgs {
    #[command(subcommand)]
    verb: OtelVerb,
}

#[derive(Subcommand)]
enum OtelVerb {
    /// List events, newest first
    #[command(
        after_help = "Examples:\n  rekindle otel list\n  rekindle otel list --stage observe --level warn"
    )]
    List(ListArgs),
    /// List the events of which the name, an id or the kind of error contains a text
    #[command(
        after_help = "Examples:\n  rekindle otel search disk-full\n  rekindle otel search 01KAB2 --hours 720"
    )]
    Search(SearchArgs),
    /// Sum up events by stage: counts, failures and durations
    #[command(after_help = "Examples:\n  rekindle otel stats\n  rekindle otel stats --hours 168 --json")]
    Stats(WindowArgs),
    /// Send new events to your OpenTelemetry collector now
    #[command(after_help = "\
The worker does this by itself when `telemetry.otlp.enabled` is true. Events go out as logs, spans and metrics over
OTLP/HTTP, each of them once; what the collector does not take now is sent later.

Examples:
  rekindle config set telemetry.otlp.url http://127.0.0.1:4318
  rekindle config set telemetry.otlp.enabled true
  rekindle otel export")]
    Export(ExportArgs),
}

#[derive(Args)]
struct ExportArgs {
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct WindowArgs {
    /// Only events of the last N hours
    #[arg(long, value_name = "N", default_value_t = 24)]
    hours: u32,
    /// Answer as JSON; events as one object a line
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ListArgs {
    #[command(flatten)]
    window: WindowArgs,
    /// Only events of this stage, such as observe
    #[arg(long, value_name = "STAGE")]
    stage: Option<String>,
    /// Only events of this level or above: debug, info, warn, error or fatal
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    level: Option<EventLevel>,
    /// List at most this many
    #[arg(long, short = 'n', value_name = "N")]
    number: Option<usize>,
}

#[derive(Args)]
struct SearchArgs {
    /// The text, in any case of letters
    text: String,
    #[command(flatten)]
    list: ListArgs,
}

/// The number of events on a terminal, unless the person asks for another.
const DEFAULT_NUMBER: usize = 50;

fn level(text: &str) -> Result<EventLevel, String> {
    EventLevel::parse(text).ok_or_else(|| {
        let words = EventLevel::ALL.map(EventLevel::as_str);
        format!("one of {}", words.join(", "))
    })
}

impl OtelArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            OtelVerb::List(list) => print_events(context, list, None),
            OtelVerb::Search(search) => print_events(context, search.list, Some(search.text)),
            OtelVerb::Stats(window) => print_stats(context, &window),
            OtelVerb::Export(export) => print_export(context, &export),
        }
    }
}

fn print_events(context: &CommandContext<'_>, list: ListArgs, text: Option<String>) -> Result<(), CliError> {
    let ListArgs { window, stage, level, number } = list;
    let events = otel::events(context, TelemetryQuery { hours: window.hours, stage, level, text });
    let shown = number.unwrap_or(if window.json { usize::MAX } else { DEFAULT_NUMBER });
    for event in events.iter().take(shown) {
        match window.json {
            true => context.out.line(object(event)?)?,
            false => context.out.line(row(context, event))?,
        }
    }
    if !window.json && events.is_empty() {
        context.out.note(format!("No such events in the last {} hours.", window.hours));
    } else if !window.json && events.len() > shown {
        context.out.note(format!("{} more; `--number` shows them.", events.len() - shown));
    }
    Ok(())
}

/// An event as JSON, with its full name.
fn object(event: &TelemetryEvent) -> Result<serde_json::Value, CliError> {
    let mut object = serde_json::to_value(event).map_err(CliError::new)?;
    object["name"] = event.name().into();
    Ok(object)
}

fn row(context: &CommandContext<'_>, event: &TelemetryEvent) -> String {
    let style = match event.level {
        EventLevel::Debug | EventLevel::Info => TextStyle::Dim,
        EventLevel::Warn => TextStyle::Warn,
        EventLevel::Error | EventLevel::Fatal => TextStyle::Bad,
    };
    let took = event.duration_ms.map_or_else(String::new, |took| format!("{took:.0} ms"));
    let mut more: Vec<String> = Vec::new();
    more.extend(event.step.clone());
    more.extend(event.error.map(|error| error.as_str().to_owned()));
    more.extend(event.skipped.then(|| "nothing to do".to_owned()));
    more.extend(event.will_retry.filter(|retry| *retry).map(|_| "will be retried".to_owned()));
    more.extend(event.attempt.filter(|attempt| *attempt > 1).map(|attempt| format!("attempt {attempt}")));
    let counts = event.counts.iter().filter(|(_, count)| **count != 0.0);
    more.extend(counts.map(|(name, count)| format!("{name}={count}")));
    format!(
        "{}  {}  {}  {}  {}",
        format_utc(event.at),
        context.out.styled(style, pad_column(event.level.as_str(), 5)),
        pad_column(&event.name(), 28),
        pad_column(&took, 9),
        more.join(" ")
    )
    .trim_end()
    .to_owned()
}

fn print_stats(context: &CommandContext<'_>, window: &WindowArgs) -> Result<(), CliError> {
    let query = TelemetryQuery { hours: window.hours, stage: None, level: None, text: None };
    let stats = otel::stats(context, query);
    if window.json {
        return context.out.json(&stats);
    }
    if stats.events == 0 {
        context.out.note(format!("No events in the last {} hours.", window.hours));
        return Ok(());
    }
    let head = ["stage", "completed", "skipped", "failed", "p50", "p95"];
    let width = |column: usize| if column == 0 { 22 } else { 9 };
    let line = |cells: &[String]| {
        let cells = cells.iter().enumerate().map(|(at, cell)| pad_column(cell, width(at)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    context.out.line(context.out.styled(TextStyle::Dim, line(&head.map(str::to_owned))))?;
    for (name, stage) in &stats.stages {
        context.out.line(line(&cells(name, stage)))?;
    }
    Ok(())
}

fn cells(name: &str, stage: &StageStats) -> [String; 6] {
    let took = |took: Option<f64>| took.map_or_else(String::new, |took| format!("{took:.0} ms"));
    [
        name.to_owned(),
        stage.completed.to_string(),
        stage.skipped.to_string(),
        stage.failed.to_string(),
        took(stage.p50_ms),
        took(stage.p95_ms),
    ]
}

fn print_export(context: &CommandContext<'_>, export: &ExportArgs) -> Result<(), CliError> {
    let (sent, state) = otel::export(context)?;
    let url = &context.settings.config.telemetry.otlp.url;
    match export.json {
        true => context.out.json(&json!({"url": url, "sent": sent, "waiting": state.waiting})),
        false if sent == 0 => {
            context.out.note(format!("The collector at {url} has every event already."));
            Ok(())
        }
        false => context.out.line(format!("Sent {sent} events to {url}.")),
    }
}
