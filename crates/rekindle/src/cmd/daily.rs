//! `rekindle daily`: shows a day's log and adds notes to today's.

use clap::{Args, Subcommand};
use rekindle_core::base::time::{Date, TypedTime, day};
use rekindle_core::text::clean_and_redact;
use rekindle_core::vault::daily_log::{LogMark, LogSection, LoggedNote, SectionSource, TimeOfDay, parse};
use serde_json::json;

use super::text_argument;
use crate::app::CommandContext;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle daily
  rekindle daily show yesterday
  rekindle daily show 2026-11-14 --json
  rekindle daily add 'Staging was moved to the new host this morning.'")]
pub(crate) struct DailyArgs {
    #[command(subcommand)]
    verb: Option<DailyCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum DailyCommand {
    /// Print the log of a day
    Show {
        /// The day: 2026-11-15, yesterday, "3 days ago"; today if you leave it out
        date: Option<TypedTime>,
    },
    /// Add a note to today's log
    Add {
        /// The note: TEXT, @FILE, or - for stdin
        #[arg(value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        text: String,
    },
}

impl DailyArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        let today = context.now.date();
        match self.verb {
            Some(DailyCommand::Add { text }) => add(context, &text, self.json),
            Some(DailyCommand::Show { date }) => {
                show(context, date.map_or(today, |date| date.day(&context.now)), self.json)
            }
            None => show(context, today, self.json),
        }
    }
}

fn show(context: &CommandContext<'_>, date: Date, as_json: bool) -> Result<(), CliError> {
    let text = context.vault()?.daily_log(date)?;
    if as_json {
        let sections = text.as_deref().map(parse).unwrap_or_default().sections;
        return context.out.json(&json!({"date": day(date), "sections": sections}));
    }
    match text {
        Some(text) => context.out.write(text.as_bytes()),
        None => {
            context.out.note(format!("No log for {}.", day(date)));
            Ok(())
        }
    }
}

fn add(context: &CommandContext<'_>, text: &str, as_json: bool) -> Result<(), CliError> {
    let admitted = clean_and_redact(&text_argument::read(text, &context.cwd)?);
    context.report_redactions(&admitted.redacted, &[]);
    let note = LoggedNote {
        source: SectionSource {
            project: context.project_id().map(|project| project.as_str().to_owned()),
            ..SectionSource::default()
        },
        time: TimeOfDay::from_zoned(&context.now),
        text: admitted.text,
        mark: LogMark { id: None, origin: Some(context.speaker().origin()), ..LogMark::default() },
    };
    let committed = context.writable_vault()?.log(&LogSection::Note(note), context.actor(), &context.now)?;
    let date = day(context.now.date());
    match as_json {
        true => context.out.json(&json!({"date": date, "change": committed.change})),
        false => context.out.line(format!("Added to memory/{date}.md")),
    }
}
