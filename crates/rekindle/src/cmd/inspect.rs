//! `rekindle inspect`: explains past recalls.

mod gate;
mod observations;
mod session;

use clap::Args;
use rekindle_engine::recall::log::RecallLog;
use rekindle_engine::recall::usage::UsageSummary;
use rekindle_engine::vault;
use serde_json::{Value, json};

use crate::app::{CommandContext, explain, feedback};
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(group(clap::ArgGroup::new("by_day").args(["gate", "observations"])))]
#[command(after_help = "\
Every recall is logged on this machine: the query, the memories shown with the parts of their scores, and those left
out with the reason. Without a number it lists the latest recalls; 1 is the newest.

With --session: everything injected into a session, whether the agent used it, what you corrected, and how many tokens
it took. With --holdout: sessions with recall compared to the control group of `recall.holdout`.

Examples:
  rekindle inspect
  rekindle inspect 1
  rekindle inspect --of m-0123456789ab
  rekindle inspect 1 --json
  rekindle inspect --session 379d93d5-1201-4f74-a5dd-3275bdd5c0b0
  rekindle inspect --holdout
  rekindle inspect --gate --days 30                 # what the write gate doubts
  rekindle inspect --observations --json            # observations, for other programs")]
pub(crate) struct InspectArgs {
    /// A recall, counted from the newest
    #[arg(value_name = "N")]
    number: Option<usize>,
    /// Only recalls that showed or left out this memory
    #[arg(long, value_name = "ID")]
    of: Option<String>,
    /// Show which observations the write gate doubts, by day; it blocks nothing
    #[arg(long, conflicts_with_all = ["number", "of", "session", "holdout"])]
    gate: bool,
    /// List the observations of each session; the list goes back 30 days
    #[arg(long, conflicts_with_all = ["number", "of", "session", "holdout", "gate"])]
    observations: bool,
    /// With --gate or --observations: go back this many days
    #[arg(long, default_value_t = 7, requires = "by_day", value_parser = clap::value_parser!(u16).range(1..=366))]
    days: u16,
    /// Show everything injected into this session, and whether it helped
    #[arg(long, value_name = "ID", conflicts_with_all = ["number", "of", "holdout"])]
    session: Option<String>,
    /// Compare sessions with and without recall
    #[arg(long, conflicts_with_all = ["number", "of"])]
    holdout: bool,
    /// List at most this many
    #[arg(long, short = 'n', default_value_t = 20, value_name = "N")]
    limit: usize,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl InspectArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.gate {
            return gate::show_gate(context, self.days, self.json);
        }
        if self.observations {
            return observations::show_observations(context, self.days, self.json);
        }
        if let Some(session) = &self.session {
            return session::show_session(context, session, self.json);
        }
        if self.holdout {
            return session::compare(context, self.json);
        }
        let log = RecallLog::in_folder(&context.places.logs_folder());
        let names = |line: &Value, list: &str| {
            let all = line[list].as_array().into_iter().flatten();
            all.filter_map(|item| item["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let of = self.of.as_deref().map(|of| memory(context, of)).transpose()?;
        let wanted = |line: &Value| {
            of.as_ref()
                .is_none_or(|id| names(line, "results").contains(id) || names(line, "dropped").contains(id))
        };
        let mut lines = log.read()?.filter(wanted);
        if let Some(number) = self.number {
            let line = number.checked_sub(1).and_then(|before| lines.nth(before));
            let Some(line) = line else {
                return Err(CliError::usage(format!("there is no recall with number {number}"))
                    .hint("list them with `rekindle inspect`; 1 is the newest"));
            };
            return match self.json {
                true => context.out.json(&line),
                false => show(context, &line),
            };
        }
        let lines: Vec<Value> = lines.take(self.limit).collect();
        if let Some(id) = of.as_ref().filter(|_| !self.json) {
            show_memory_usage(context, id)?;
        }
        if self.json {
            return context.out.json(&json!(lines));
        }
        let mut any_silent = false;
        for (number, line) in lines.iter().enumerate() {
            let shown = line["results"].as_array().map_or(0, Vec::len);
            let silent = line["abstained"] == json!(true) || shown == 0;
            let what = if silent { "silent".to_owned() } else { format!("{shown} shown") };
            any_silent |= silent;
            let query: String = line["query"].as_str().unwrap_or_default().chars().take(60).collect();
            let at = line["at"].as_str().unwrap_or_default();
            let number = pad_column(&(number + 1).to_string(), 4);
            context.out.line(format!(
                "{}{}  {}  {}",
                context.out.styled(TextStyle::Dim, number),
                context.out.styled(TextStyle::Dim, at),
                pad_column(&what, 8),
                query.replace('\n', " ")
            ))?;
        }
        if lines.is_empty() {
            context.out.note("No recalls yet. To search, see `rekindle recall --help`.");
        } else {
            let silent = if any_silent { "silent: no memory was relevant enough to show. " } else { "" };
            context
                .out
                .note(format!("{silent}`rekindle inspect 1` explains the newest, `2` the one before."));
        }
        Ok(())
    }
}

/// Returns the id of the named memory. An unknown name is kept, because it may still be in the log.
fn memory(context: &CommandContext<'_>, of: &str) -> Result<String, CliError> {
    let vault = context.vault()?;
    match vault.find(of, &context.cwd) {
        Ok(path) => feedback::id_of(&vault, &path),
        Err(error @ vault::Error::Ambiguous { .. }) => Err(error.into()),
        Err(_) => Ok(of.to_owned()),
    }
}

/// Shows the usage of a memory (FBK-03).
fn show_memory_usage(context: &CommandContext<'_>, id: &str) -> Result<(), CliError> {
    let standing = UsageSummary::read(&context.places.usage()).memory_usage(id);
    let counts = [
        ("strength", format!("{:+.2}", standing.strength()), "from -1 (misleads) to +1 (helps)"),
        ("recalled", standing.recall_count.to_string(), "times it was found"),
        ("used", standing.used.to_string(), "times an agent's answer relied on it"),
        ("ignored", standing.ignored.to_string(), "times an agent was shown it and did not use it"),
        ("missed", standing.missed.to_string(), "times you had to say it because it was not shown"),
        ("misled", standing.misled.to_string(), "times you corrected an answer that relied on it"),
    ];
    for (name, value, meaning) in counts {
        let row =
            format!("{}  {value:>5}  {}", pad_column(name, 8), context.out.styled(TextStyle::Dim, meaning));
        context.out.line(row)?;
    }
    Ok(())
}

fn show(context: &CommandContext<'_>, line: &Value) -> Result<(), CliError> {
    let out = context.out;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    for (key, name) in [("at", "when"), ("query", "query"), ("project", "project"), ("tookMs", "took (ms)")] {
        if !line[key].is_null() {
            out.line(format!("{}  {}", out.styled(TextStyle::Dim, pad_column(name, 10)), text(&line[key])))?;
        }
    }
    for degraded in line["degraded"].as_array().into_iter().flatten() {
        out.line(format!("{}  {}", out.styled(TextStyle::Warn, pad_column("degraded", 10)), text(degraded)))?;
    }
    if let (Some(true), Some(why)) = (line["abstained"].as_bool(), line["silence"]["reason"].as_str()) {
        out.line(format!(
            "{}  {}",
            out.styled(TextStyle::Dim, pad_column("silent", 10)),
            explain::silence_reason(why)
        ))?;
    }
    for result in line["results"].as_array().into_iter().flatten() {
        out.line("")?;
        let score = result["score"].as_f64().unwrap_or_default();
        let head = format!("{score:.3}  {}  {}", text(&result["id"]), text(&result["title"]));
        out.line(out.styled(TextStyle::Bold, head))?;
        for row in explain::score_table(result) {
            out.line(format!("  {row}"))?;
        }
        for doubt in result["doubts"].as_array().into_iter().flatten() {
            out.line(format!("  {}  {doubt}", out.styled(TextStyle::Warn, pad_column("doubt", 8))))?;
        }
    }
    let dropped: Vec<&Value> = line["dropped"].as_array().into_iter().flatten().collect();
    if !dropped.is_empty() {
        out.line("")?;
        out.line(out.styled(TextStyle::Dim, "Left out:"))?;
    }
    for dropped in dropped {
        let score = dropped["score"].as_f64().unwrap_or_default();
        let rule = text(&dropped["rule"]);
        let row = format!(
            "  {score:.3}  {}  {}  {}",
            text(&dropped["id"]),
            text(&dropped["title"]),
            explain::rule(&rule)
        );
        out.line(out.styled(TextStyle::Dim, row))?;
    }
    Ok(())
}
