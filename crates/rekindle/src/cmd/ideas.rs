//! `rekindle ideas`: lists, adds and sorts out ideas.

use clap::{Args, Subcommand};
use rekindle_core::base::provenance::Provenance;
use rekindle_core::base::scope::{ProjectId, is_project_visible_in};
use rekindle_core::base::time::{Date, day};
use rekindle_core::text::RedactionCounts;
use rekindle_core::vault::ideas::{IdeaEntry, MAX_UNPROMOTED_IDEAS};
use rekindle_engine::pipeline::stages::research::{self, research};
use rekindle_engine::vault::{Error, MovedIdea, NewIdea, OverdueIdea, Vault};
use serde_json::{Value, json};

use super::text_argument;
use crate::app::CommandContext;
use crate::dialog;
use crate::error::CliError;
use crate::output::{TextStyle, pad_column};

/// The action that agents may not take.
const REMOVE_ACTION: &str = "remove an idea";

#[derive(Args)]
#[command(after_help = "\
An idea is a section in Ideas.md, and a folder in the vault's incubator for the notes around it.

Examples:
  rekindle ideas
  rekindle ideas add 'Index by year' --summary 'Old memories could live in their own index.'
  rekindle ideas promote index-by-year
  rekindle ideas gc")]
pub(crate) struct IdeasArgs {
    #[command(subcommand)]
    verb: Option<IdeasCommand>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum IdeasCommand {
    /// List your ideas
    List,
    /// Add an idea
    Add {
        /// The title
        title: String,
        /// The idea in a sentence or two: TEXT, @FILE, or - for stdin
        #[arg(long, short = 's', value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        summary: String,
    },
    /// Make an idea a project: its folder moves to personal-projects/
    #[command(after_help = "\
Examples:
  rekindle ideas promote index-by-year
  rekindle ideas promote 'Index by year'")]
    Promote {
        /// The idea: its slug in the incubator, or its title
        #[arg(value_name = "SLUG|TITLE")]
        idea: String,
    },
    /// Research an idea with a program of yours, and save the result
    #[command(after_help = "\
This is off until you set ideas.research.when to asked, and ideas.research.program to a program that reads a question from
stdin and prints its findings. The text of the idea leaves your machine if that program sends it. The limits are
ideas.research.minutes, ideas.research.fetches (pages, as a request to the program) and ideas.research.tokens of the answer,
which is kept as an unreviewed quotation.

Examples:
  rekindle config set ideas.research.when asked
  rekindle config set ideas.research.program ~/bin/look-it-up
  rekindle ideas research index-by-year")]
    Research {
        /// The idea: its slug in the incubator, or its title
        #[arg(value_name = "SLUG|TITLE")]
        idea: String,
    },
    /// Decide about old ideas
    Gc(GcArgs),
}

/// Decide about old ideas
#[derive(Args)]
#[command(after_help = "\
Lists ideas that are older than ideas.gc_months (6), were not promoted, and that no other note mentions. At a terminal it
asks about each of them; elsewhere nothing happens without a decision. `rekindle undo` undoes any decision.

Examples:
  rekindle ideas gc
  rekindle ideas gc --older-than 90 --json
  rekindle ideas gc --keep index-by-year --archive old-plan
  rekindle ideas gc --delete a-joke --yes")]
struct GcArgs {
    /// List ideas older than this many days, instead of ideas.gc_months
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(i32).range(0..=36_500))]
    older_than: Option<i32>,
    /// Keep this idea; it is listed again when it is twice as old
    #[arg(long, value_name = "SLUG")]
    keep: Vec<String>,
    /// Archive this idea with its folder
    #[arg(long, value_name = "SLUG")]
    archive: Vec<String>,
    /// Delete this idea with its folder and section
    #[arg(long, value_name = "SLUG")]
    delete: Vec<String>,
    /// Delete without asking
    #[arg(long, short = 'y')]
    yes: bool,
}

impl IdeasArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        match self.verb {
            Some(IdeasCommand::Add { title, summary }) => add(context, &title, &summary, self.json),
            Some(IdeasCommand::Promote { idea }) => promote(context, &idea, self.json),
            Some(IdeasCommand::Research { idea }) => look_into(context, &idea, self.json),
            Some(IdeasCommand::Gc(gc)) => gc.run(context, self.json),
            Some(IdeasCommand::List) | None => list(context, self.json),
        }
    }
}

fn list(context: &CommandContext<'_>, as_json: bool) -> Result<(), CliError> {
    let mut ideas = context.vault()?.ideas()?;
    // A person sees all ideas; an agent only those of its project.
    if context.is_agent_shell() {
        let here = context.project_id().map(ProjectId::as_str);
        ideas.retain(|idea| is_project_visible_in(idea.project.as_ref().map(ProjectId::as_str), here));
    }
    if as_json {
        context.out.json(&ideas)?;
    } else {
        for idea in &ideas {
            let became = match (idea.promoted, idea.archived) {
                (Some(date), _) => format!(" (promoted {})", day(date)),
                (None, Some(date)) => format!(" (archived {})", day(date)),
                (None, None) => String::new(),
            };
            let reach = idea.project.as_ref().map_or_else(String::new, |project| format!(" [{project}]"));
            context.out.line(format!("{}  {}{reach}{became}", day(idea.date), idea.title))?;
        }
        if ideas.is_empty() {
            context.out.note("No ideas yet. To add one, see `rekindle ideas add --help`.");
        }
    }
    remind_if_many(context, &ideas);
    Ok(())
}

/// Reminds the person once there are too many open ideas (IDEA-07).
fn remind_if_many(context: &CommandContext<'_>, ideas: &[IdeaEntry]) {
    let open = ideas.iter().filter(|idea| idea.is_open()).count();
    if open > MAX_UNPROMOTED_IDEAS {
        context.out.warn(format!(
            "{open} open ideas. `rekindle ideas promote` makes one a project; `rekindle ideas gc` clears old ones."
        ));
    }
}

fn add(context: &CommandContext<'_>, title: &str, summary: &str, as_json: bool) -> Result<(), CliError> {
    let summary = text_argument::read(summary, &context.cwd)?;
    let new = NewIdea {
        title,
        summary: &summary,
        provenance: Provenance { origin: context.speaker().origin(), ..Provenance::from_user() },
        // Without another scope, an idea belongs to the current project.
        scope: context.scope(false)?,
        related: Vec::new(),
        said_at: None,
    };
    let added = context.writable_vault()?.add_idea(&new, context.actor(), &context.now)?;
    context.report_redactions(&added.redacted, &added.conflicts);
    match as_json {
        true => context.out.json(&json!({"slug": added.outcome, "change": added.change})),
        false => {
            context.out.line(format!("Added to Ideas.md. Its folder is _idea-incubator/{}", added.outcome))
        }
    }
}

fn promote(context: &CommandContext<'_>, idea: &str, as_json: bool) -> Result<(), CliError> {
    let promoted = match context.writable_vault()?.promote_idea(idea, context.actor(), &context.now) {
        Err(error @ Error::Exists(_)) => {
            return Err(
                CliError::usage(error).hint("nothing was changed; rename that folder and promote again")
            );
        }
        other => other?,
    };
    context.report_redactions(&RedactionCounts::default(), &promoted.conflicts);
    if as_json {
        return context.out.json(&object("promoted", &promoted));
    }
    let folder = promoted.folder.map(|folder| folder.to_string()).unwrap_or_default();
    context.out.line(format!("Promoted {} to a project: {folder}/", promoted.slug))
}

fn look_into(context: &CommandContext<'_>, idea: &str, as_json: bool) -> Result<(), CliError> {
    context.writable_vault()?;
    let stage_context = context.stage_context();
    let found =
        context.out.with_progress("researching …", || research(idea, context.actor(), &stage_context));
    let path = match found {
        Ok(path) => path,
        Err(error @ research::Error::Off) => {
            return Err(CliError::usage(error).hint("to set it up, see `rekindle ideas research --help`"));
        }
        Err(research::Error::Vault(error @ Error::Exists(_))) => {
            return Err(CliError::usage(error)
                .hint("it was researched before; move that file away to research it again"));
        }
        Err(research::Error::Vault(error)) => return Err(error.into()),
        Err(error) => return Err(CliError::new(error)),
    };
    match as_json {
        true => context.out.json(&json!({"path": path})),
        false => {
            context.out.line(format!("Saved the result: {path}. A program wrote it; nobody has reviewed it."))
        }
    }
}

fn object(decision: &str, moved: &MovedIdea) -> Value {
    json!({
        "slug": moved.slug, "title": moved.title, "decision": decision, "folder": moved.folder,
        "change": moved.change,
    })
}

#[derive(Clone, Copy)]
enum GcDecision {
    Keep,
    Archive,
    Delete,
}

impl GcArgs {
    fn run(self, context: &CommandContext<'_>, as_json: bool) -> Result<(), CliError> {
        let decisions: Vec<(&String, GcDecision)> = (self.keep.iter().map(|slug| (slug, GcDecision::Keep)))
            .chain(self.archive.iter().map(|slug| (slug, GcDecision::Archive)))
            .chain(self.delete.iter().map(|slug| (slug, GcDecision::Delete)))
            .collect();
        if !self.delete.is_empty() {
            context.require_person(REMOVE_ACTION)?;
        }
        if !decisions.is_empty() {
            let vault = context.writable_vault()?;
            let mut done = Vec::new();
            for (slug, decision) in decisions {
                done.extend(self.decide(context, &vault, slug, decision, as_json)?);
            }
            return if as_json { context.out.json(&done) } else { Ok(()) };
        }
        let today = context.now.date();
        let overdue = context.vault()?.overdue_ideas(self.cutoff_date(context, today)?, today)?;
        if as_json {
            return context.out.json(&overdue);
        }
        if overdue.is_empty() {
            context.out.note("No old ideas to decide about.");
            return Ok(());
        }
        for idea in &overdue {
            context.out.line(row(context, idea))?;
        }
        if !dialog::is_possible() {
            context.out.note("No changes. Decide with --keep, --archive or --delete SLUG (see `--help`).");
            return Ok(());
        }
        let vault = context.writable_vault()?;
        for idea in &overdue {
            let question = format!("{}: [k]eep, [a]rchive, [d]elete, or Enter to decide later?", idea.title);
            let answer = dialog::text(&question, None)?.unwrap_or_default().to_lowercase();
            let decision = match answer.as_str() {
                "k" | "keep" => GcDecision::Keep,
                "a" | "archive" => GcDecision::Archive,
                "d" | "delete" => GcDecision::Delete,
                _ => continue,
            };
            self.decide(context, &vault, &idea.slug, decision, false)?;
        }
        Ok(())
    }

    /// The day before which an idea is old.
    fn cutoff_date(&self, context: &CommandContext<'_>, today: Date) -> Result<Date, CliError> {
        let span = match self.older_than {
            Some(days) => jiff::Span::new().days(days),
            None => {
                let months = context.settings.config.ideas.gc_months;
                jiff::Span::new().months(i32::try_from(months).unwrap_or(i32::MAX))
            }
        };
        today.checked_sub(span).map_err(CliError::usage)
    }

    fn decide(
        &self,
        context: &CommandContext<'_>,
        vault: &Vault,
        slug: &str,
        decision: GcDecision,
        as_json: bool,
    ) -> Result<Option<Value>, CliError> {
        let question = format!("Delete the folder and section of `{slug}`?");
        if matches!(decision, GcDecision::Delete) {
            context.require_person(REMOVE_ACTION)?;
        }
        let asks = matches!(decision, GcDecision::Delete) && !self.yes && dialog::is_possible();
        if asks && !dialog::yes(&question, false)? {
            return Ok(None);
        }
        let (word, moved) = match decision {
            GcDecision::Keep => ("kept", vault.keep_idea(slug, context.actor(), &context.now)?),
            GcDecision::Archive => ("archived", vault.archive_idea(slug, context.actor(), &context.now)?),
            GcDecision::Delete => match vault.delete_idea(slug, context.actor(), &context.now) {
                Err(error @ (Error::NotText { .. } | Error::TooLarge { .. })) => {
                    return Err(CliError::usage(error).hint(
                        "undo cannot restore files that are not text; use --archive, or remove them by hand first",
                    ));
                }
                other => ("deleted", other?),
            },
        };
        context.report_redactions(&RedactionCounts::default(), &moved.conflicts);
        if !as_json {
            let now_at =
                moved.folder.as_ref().map_or_else(String::new, |folder| format!(": now at {folder}/"));
            context.out.line(format!("{} {word}{now_at}", moved.slug))?;
        }
        Ok(Some(object(word, &moved)))
    }
}

fn row(context: &CommandContext<'_>, idea: &OverdueIdea) -> String {
    let age = format!("{} days", idea.days);
    format!(
        "{}  {}  {}",
        pad_column(&age, 10),
        pad_column(&idea.slug, 30),
        context.out.styled(TextStyle::Bold, &idea.title)
    )
}
