//! `rekindle memory`: shows MEMORY.md and adds lines to it.

use clap::{Args, Subcommand};
use rekindle_core::base::provenance::Origin;
use rekindle_core::base::time::day;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout;
use rekindle_core::vault::memory::{
    StatementMark, StatementOutcome, render_new, section_titles, sections, title_matches, user_section,
};
use rekindle_engine::vault::{self, Vault};
use serde_json::{Value, json};

use super::text_argument;
use crate::app::CommandContext;
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
Every session starts with MEMORY.md. Edit it in any editor; this command only adds lines. A line that ends in
`(project: github.com/acme/payments)` applies to that project only; the end of the name is enough. Without this mark,
a line applies everywhere.

Examples:
  rekindle memory
  rekindle memory add 'Never push to main without a green run.' --section 'Hard Rules'
  rekindle memory add 'Staging listens on 5434.' --this-project")]
pub(crate) struct MemoryArgs {
    #[command(subcommand)]
    verb: Option<MemoryCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum MemoryCommand {
    /// Print MEMORY.md
    Show,
    /// Add a line
    Add {
        /// The line: TEXT, @FILE, or - for stdin
        #[arg(value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        statement: String,
        /// The section: your name (the default), 'Hard Rules', 'System Architecture', 'Patterns' or 'Lessons'
        #[arg(long, short = 's')]
        section: Option<String>,
        /// Apply it to the current project only
        #[arg(long)]
        this_project: bool,
    },
}

impl MemoryArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            Some(MemoryCommand::Add { statement, section, this_project }) => {
                add(context, &statement, section, this_project, self.json)
            }
            Some(MemoryCommand::Show) | None => show(context, self.json),
        }
    }
}

fn show(context: &CommandContext<'_>, as_json: bool) -> Result<(), CliError> {
    let vault = context.vault()?;
    let place = ChangedFile::vault(layout::fixed_path(layout::MEMORY));
    let missing = || vault::Error::NotFound(layout::MEMORY.to_owned());
    let note = vault.read(&place)?.ok_or_else(missing)?;
    if !as_json {
        return context.out.write(note.text.as_bytes());
    }
    let sections = sections(&note.text)
        .map_err(|why| vault::Error::Structure { path: layout::MEMORY.to_owned(), why: why.to_string() })?;
    let section = |section: &rekindle_core::vault::memory::MemorySection| {
        let items: Vec<Value> = section
            .items
            .iter()
            .map(|item| {
                json!({
                    "text": item.text,
                    "date": item.date.map(day),
                    "superseded": item.superseded.map(day),
                    "origin": item.origin,
                    "project": item.project,
                    "line": item.line,
                })
            })
            .collect();
        json!({"title": section.title, "line": section.line, "items": items})
    };
    context.out.json(&sections.iter().map(section).collect::<Vec<Value>>())
}

fn add(
    context: &CommandContext<'_>,
    statement: &str,
    section: Option<String>,
    this_project: bool,
    as_json: bool,
) -> Result<(), CliError> {
    context.require_person_words("write to MEMORY.md")?;
    let project = match (this_project, context.project_id()) {
        (false, _) => None,
        (true, Some(project)) => Some(project.clone()),
        (true, None) => {
            return Err(CliError::usage("this folder is not in a project")
                .hint("omit --this-project, or run the command in the project's folder"));
        }
    };
    let statement = text_argument::read(statement, &context.cwd)?;
    let user = &context.settings.config.user.name;
    let vault = context.writable_vault()?;
    if let Some(section) = &section {
        check_section(&vault, section, user)?;
    }
    let section = section.unwrap_or_else(|| user_section(user));
    let mark = StatementMark { id: None, origin: Origin::User, project };
    let added = vault.remember(user, &section, &statement, &mark, ChangeActor::User, &context.now)?;
    context.report_redactions(&added.redacted, &added.conflicts);
    if as_json {
        return context.out.json(&json!({
            "outcome": added.outcome,
            "section": section,
            "change": added.change,
            "redacted": added.redacted,
        }));
    }
    context.out.line(match added.outcome {
        StatementOutcome::Appended => format!("Added to MEMORY.md › {section}. Undo with `rekindle undo`."),
        StatementOutcome::Reflected => {
            format!("MEMORY.md has no section {section}; added under Reflected at the end. Undo with `rekindle undo`.")
        }
        StatementOutcome::Merged | StatementOutcome::AlreadyThere => format!("MEMORY.md › {section} already says that."),
    })
}

/// Refuses an unknown section: a typo would put the line out of sight.
fn check_section(vault: &Vault, section: &str, user: &str) -> Result<(), CliError> {
    let text = vault.read(&ChangedFile::vault(layout::fixed_path(layout::MEMORY)))?.map(|note| note.text);
    let text = text.unwrap_or_else(|| render_new(user));
    let titles = section_titles(&text)
        .map_err(|why| vault::Error::Structure { path: layout::MEMORY.to_owned(), why: why.to_string() })?;
    if titles.iter().any(|title| title_matches(title, section)) {
        return Ok(());
    }
    Err(CliError::usage(format!("MEMORY.md has no section `{section}`"))
        .hint(format!("its sections are {}", titles.join(", "))))
}
