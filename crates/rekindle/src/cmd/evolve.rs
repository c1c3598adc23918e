//! `rekindle evolve`

use clap::Args;
use rekindle_core::journal::Actor;
use rekindle_core::provenance::Origin;
use rekindle_engine::vault::Evolved;
use serde_json::json;

use super::body;
use crate::compose::Context;
use crate::error::Failure;

#[derive(Args)]
#[command(after_help = "\
Examples:
  rekindle evolve staging-port --body 'Staging Postgres listens on 5434.' --reason 'moved hosts'
  rekindle evolve m-7k2d9q0x1abc --body @new.md --reason 'rewritten after the incident'")]
pub(crate) struct Evolve {
    /// The memory: its id, path or slug
    #[arg(value_name = "ID|PATH")]
    reference: String,
    /// What it says now: TEXT, @FILE, or - for stdin
    #[arg(long, short = 'b', value_name = "TEXT|@FILE|-", allow_hyphen_values = true)]
    body: String,
    /// Why it changed; kept with the new version
    #[arg(long, short = 'r', value_name = "TEXT", allow_hyphen_values = true)]
    reason: String,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Evolve {
    pub(crate) fn run(self, context: &Context<'_>) -> Result<(), Failure> {
        let body = body::read(&self.body, &context.cwd)?;
        let evolved = renew(context, &self.reference, &body, &self.reason, (Origin::User, Actor::User))?;
        context.mention(&evolved.redacted, &evolved.conflicts);
        if self.json {
            return context.out.json(&json!({
                "id": evolved.id,
                "path": evolved.path,
                "file": context.file(evolved.path.as_str()),
                "archive": evolved.archive,
                "change": evolved.change,
                "redacted": evolved.redacted,
                "conflicts": evolved.conflicts,
            }));
        }
        context.out.line(format!("{} is now {}", evolved.path, evolved.id))?;
        context.out.line(format!("The old version is at {}", evolved.archive))
    }
}

/// Gives a memory a new version, in these words and by this hand.
pub(crate) fn renew(
    context: &Context<'_>,
    reference: &str,
    body: &str,
    reason: &str,
    (origin, by): (Origin, Actor),
) -> Result<Evolved, Failure> {
    if reason.trim().is_empty() {
        return Err(Failure::usage("the reason is empty").hint("say in a few words why it changed"));
    }
    let vault = context.vault_to_change()?;
    let path = vault.find(reference, &context.cwd)?;
    Ok(vault.evolve(&path, body, reason, origin, by, &context.now)?)
}
