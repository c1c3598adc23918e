//! `rekindle save`: saves a memory.

use clap::Args;
use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::scope::Scope;
use rekindle_core::session::command_speaker::CommandSpeaker;
use rekindle_core::vault::entry::Confidence;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_core::vault::layout::{EntryDestination, EntryGroup};
use rekindle_engine::vault::NewEntry;
use serde_json::json;

use super::text_argument;
use crate::app::CommandContext;
use crate::app::save::{infer_kind, infer_slug, keep_for_agent, save_entry};
use crate::error::CliError;

#[derive(Args)]
#[command(after_help = "\
A text alone is enough: Rekindle infers its kind and names it after its first words. To choose both yourself, pass
KIND and SLUG, and the text with --body.

Inside a project the memory belongs to that project; --global saves it for every project. What an agent saves, or a
program without a terminal, is unreviewed until you look at it.

`rekindle remember` is the same command.

Examples:
  rekindle save 'Use tabs here'
  rekindle save fix staging-port --body 'Staging Postgres listens on 5433, not 5432.'
  rekindle save preference commits --always-load --global --body 'Small commits; the body says why.'
  rekindle save howto release --group personal-skills --tag ci --body @notes/release.md
  git log -1 --format=%B | rekindle save decision cache --body -")]
pub(crate) struct SaveArgs {
    /// The memory itself: TEXT, @FILE, or - for stdin; with --body its kind (fix, preference, decision, howto, …)
    #[arg(value_name = "TEXT|KIND", required_unless_present = "body")]
    text: Option<String>,
    /// With --body: a short name, which becomes the file name
    #[arg(value_name = "SLUG", requires = "body")]
    slug: Option<String>,
    /// The memory itself, after its kind and slug: TEXT, @FILE, or - for stdin
    #[arg(long, short = 'b', value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    body: Option<String>,
    /// The group: personal-private, personal-projects or personal-skills
    #[arg(long, default_value = "personal-private")]
    group: EntryGroup,
    /// A tag to find it by; may be given several times
    #[arg(long = "tag", short = 't', value_name = "TAG")]
    tags: Vec<String>,
    /// Load it at every session start, in this project; with --global in every project
    #[arg(long)]
    always_load: bool,
    /// Save it for every project, not only for this one
    #[arg(long)]
    global: bool,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl SaveArgs {
    pub(crate) fn run(self, context: &CommandContext<'_>) -> Result<(), CliError> {
        if self.always_load && self.group != EntryGroup::PersonalPrivate {
            return Err(CliError::usage("--always-load works with the group personal-private only")
                .hint("omit --group"));
        }
        let is_inferred = self.body.is_none();
        let (kind, slug, text) = match self.body {
            Some(body) => (self.text, self.slug, body),
            None => (None, None, self.text.unwrap_or_default()),
        };
        let body = text_argument::read(&text, &context.cwd)?;
        let new = NewEntry {
            kind: kind.unwrap_or_else(|| infer_kind(&body)),
            slug: slug.unwrap_or_else(|| infer_slug(&body)),
            to: if self.always_load {
                EntryDestination::AlwaysLoad
            } else {
                EntryDestination::Group(self.group)
            },
            tags: self.tags,
            scope: Scope::Global,
            body,
            confidence: Confidence::High,
            provenance: Provenance::from_user(),
            said_at: None,
        };
        let by_agent = context.speaker() == CommandSpeaker::Agent;
        let (saved, scope) = match by_agent {
            false => save_entry(context, new, self.global, ChangeActor::User)?,
            true => keep_for_agent(context, new)?,
        };
        if by_agent && self.global && scope != Scope::Global {
            context
                .out
                .warn("only you can save for every project; this memory is saved for the current project");
        }
        if saved.was_forgotten {
            context.out.warn("you forgot this before; it is saved again because you asked for it");
        }
        context.report_redactions(&saved.redacted, &[]);
        if self.json {
            return context.out.json(&json!({
                "id": saved.id,
                "path": saved.path,
                "file": context.file(saved.path.as_str()),
                "scope": scope.kind_str(),
                "project": scope.project(),
                "origin": if by_agent { Origin::Agent } else { Origin::User },
                "change": saved.change,
                "redacted": saved.redacted,
            }));
        }
        let reach = scope.project().map_or_else(String::new, |project| format!(" for {project}"));
        let unreviewed = if by_agent { ", unreviewed because it was not saved at your terminal" } else { "" };
        context.out.line(format!("Saved {} at {}{reach}{unreviewed}", saved.id, saved.path))?;
        if is_inferred {
            context
                .out
                .note(format!("Change it with `rekindle edit {}`, undo with `rekindle undo`.", saved.id));
        }
        Ok(())
    }
}
