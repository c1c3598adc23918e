//! `rekindle slog`: logs changes to infrastructure.

use clap::{Args, Subcommand};
use rekindle_core::base::time::format_utc;
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::system_log::SystemLogLine;
use serde_json::json;

use crate::app::CommandContext;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

#[derive(Args)]
#[command(after_help = "\
The system log is for machines, services and tools, not for edits to code.

Examples:
  rekindle slog write --action deploy --tool worker --detail 'v2 on the new host' --reason 'old disk is full'
  rekindle slog list -n 5")]
pub(crate) struct SystemLogArgs {
    #[command(subcommand)]
    verb: SystemLogCommand,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum SystemLogCommand {
    /// Add a line
    Write {
        /// The action: deploy, install, restart, …
        #[arg(long)]
        action: String,
        /// The tool, service or machine
        #[arg(long)]
        tool: String,
        /// The details
        #[arg(long, allow_hyphen_values = true)]
        detail: String,
        /// The reason
        #[arg(long, allow_hyphen_values = true)]
        reason: Option<String>,
    },
    /// List the newest lines
    List {
        /// List this many
        #[arg(long, short = 'n', default_value_t = 20)]
        number: usize,
    },
}

impl SystemLogArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            SystemLogCommand::Write { action, tool, detail, reason } => {
                if action.trim().is_empty() {
                    return Err(
                        CliError::usage("the action is empty").hint("name what was done, such as `deploy`")
                    );
                }
                let clean = |text: String| {
                    let admitted = clean_and_redact(&text);
                    context.report_redactions(&admitted.redacted, &[]);
                    admitted.text
                };
                let line = SystemLogLine {
                    at: context.now.timestamp(),
                    action: clean(action),
                    tool: clean(tool),
                    detail: clean(detail),
                    reason: reason.map(clean),
                };
                let committed = context.writable_vault()?.log_system(&line, context.actor(), &context.now)?;
                match self.json {
                    true => context.out.json(&json!({"line": line, "change": committed.change})),
                    false => context.out.line("Added to system-log.jsonl"),
                }
            }
            SystemLogCommand::List { number } => {
                let log = context.vault()?.system_log()?;
                let newest = log.lines.iter().rev().take(number);
                if self.json {
                    context.out.json(&newest.collect::<Vec<_>>())?;
                } else {
                    for line in newest {
                        let at = context.out.styled(TextStyle::Dim, format_utc(line.at));
                        let reason =
                            line.reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"));
                        let (action, tool) = (pad_column(&line.action, 12), pad_column(&line.tool, 12));
                        context.out.line(format!("{at}  {action}  {tool}  {}{reason}", line.detail))?;
                    }
                }
                for unreadable in &log.unreadable {
                    context.out.warn(unreadable);
                }
                Ok(())
            }
        }
    }
}
