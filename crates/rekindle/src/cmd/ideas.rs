//! `rekindle ideas`

use clap::{Args, Subcommand};
use rekindle_core::journal::Actor;
use rekindle_core::provenance::Provenance;
use rekindle_core::time::day;
use rekindle_engine::vault::NewIdea;
use serde_json::json;

use super::body;
use crate::compose::Context;
use crate::error::Failure;

/// List your ideas, or write one down
#[derive(Args)]
#[command(after_help = "\
An idea is a section in Ideas.md and a folder in the vault's incubator for what grows around it.

Examples:
  rekindle ideas
  rekindle ideas add 'Index by year' --summary 'Old memories could live in their own index.'")]
pub(crate) struct Ideas {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Answer as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// List them
    List,
    /// Write one down
    Add {
        /// A few words
        title: String,
        /// A sentence or two: TEXT, @FILE, or - for stdin
        #[arg(long, short = 's', value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
        summary: String,
    },
}

impl Ideas {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        match self.verb {
            Some(Verb::Add { title, summary }) => add(context, &title, &summary, self.json),
            Some(Verb::List) | None => list(context, self.json),
        }
    }
}

fn list(context: &Context<'_>, as_json: bool) -> Result<(), Failure> {
    let ideas = context.vault()?.ideas()?;
    if as_json {
        return context.out.json(&ideas);
    }
    for idea in &ideas {
        let promoted = idea.promoted.map_or_else(String::new, |date| format!(" (promoted {})", day(date)));
        context.out.line(format!("{}  {}{promoted}", day(idea.date), idea.title))?;
    }
    if ideas.is_empty() {
        context.out.note("No ideas yet. `rekindle ideas add --help` shows how to begin.");
    }
    Ok(())
}

fn add(context: &Context<'_>, title: &str, summary: &str, as_json: bool) -> Result<(), Failure> {
    let summary = body::read(summary, &context.cwd)?;
    let new = NewIdea { title, summary: &summary, provenance: Provenance::direct() };
    let added = context.vault_to_change()?.add_idea(&new, Actor::User, &context.now)?;
    context.mention(&added.redacted, &added.conflicts);
    match as_json {
        true => context.out.json(&json!({"slug": added.outcome, "change": added.change})),
        false => {
            context.out.line(format!("Noted in Ideas.md; its folder is _idea-incubator/{}", added.outcome))
        }
    }
}
