//! `rekindle init`

use std::path::{Path, PathBuf};

use clap::Args;
use rekindle_core::config::Provider;
use rekindle_engine::home::Home;
use rekindle_engine::llm::Surroundings;
use rekindle_engine::{clock, config, environment, setup};
use serde_json::json;

use super::install::{self, Install};
use super::llm::Found;
use crate::ask;
use crate::cli::Global;
use crate::error::Failure;
use crate::output::{Printer, Style, column};

#[derive(Args)]
#[command(after_help = "\
Safe to run again: it makes what is missing and leaves the rest as it is.

Examples:
  rekindle init
  rekindle init --name Ada --notes ~/Obsidian
  rekindle --home /tmp/trial init --name Ada")]
pub(crate) struct Init {
    /// What your agents should call you
    #[arg(long)]
    name: Option<String>,
    /// An existing folder of notes (Obsidian or any other) to keep the memories in
    #[arg(long, value_name = "DIR")]
    notes: Option<PathBuf>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl Init {
    pub(crate) fn run(self, global: &Global, out: &Printer) -> Result<(), Failure> {
        let home = Home::find(global.home.as_deref())?;
        let settings = config::read(&home, None, &global.settings)?;
        let now = clock::now(config::zone(&settings)?);
        let (mut name, mut notes) = (self.name, self.notes);
        let first_time = settings.config.user.name.is_empty();
        let asking = !self.json && ask::is_possible();
        if first_time && asking {
            if name.is_none() {
                name = ask::text("What should your agents call you?", environment::login().as_deref())?;
            }
            if notes.is_none() {
                let question = "An existing folder of notes to keep the memories in (empty for a new one):";
                notes = ask::text(question, None)?.map(PathBuf::from);
            }
        } else if first_time && name.is_none() {
            name = environment::login();
        }
        let notes = notes.map(|path| absolute(&path)).transpose()?;
        let items = setup::init(&home, name.as_deref(), notes.as_deref(), &now)?;
        let around = Surroundings::look(&home.places(&settings.config)?);
        let models = Found::look(&settings.config.llm, &around);
        if self.json {
            let object =
                |item: &setup::Item| json!({"what": item.what, "path": item.path, "made": item.made});
            let items: Vec<_> = items.iter().map(object).collect();
            let agents = install::offered(global);
            return out.json(
                &json!({"home": home.root(), "items": items, "agents": agents, "models": models.json()}),
            );
        }
        for item in &items {
            let word =
                if item.made { out.styled(Style::Good, "made ") } else { out.styled(Style::Dim, "there") };
            out.line(format!("{word}  {}  {}", column(item.what, 8), item.path.display()))?;
        }
        out.line("")?;
        let chosen = settings.config.llm.provider != Provider::Offline;
        if let Some(found) = models.mention().filter(|_| !chosen) {
            out.line(found)?;
            out.line("")?;
        }
        let agents = install::offered(global);
        let names: Vec<&str> = agents.iter().map(|agent| agent.name()).collect();
        if asking && !agents.is_empty() {
            let question = format!("Let {} remember? You see what changes first.", names.join(", "));
            // What was to be set up is; the agents can be asked again.
            match ask::yes(&question, true) {
                Ok(true) => match Install::offer(agents.clone()).run(global, out) {
                    Ok(()) => return Ok(()),
                    Err(failure) => out.warn(failure.message),
                },
                Ok(false) => {}
                Err(_) => {
                    out.line("")?;
                    out.warn("nobody answered; the settings of your agents stay as they are");
                }
            }
        }
        out.line("Next:")?;
        // A trial in another home goes on there.
        let home =
            global.home.as_ref().map_or_else(String::new, |home| format!(" --home {}", home.display()));
        out.line(format!(
            "  rekindle{home} save preference first --always-load --body 'Keep answers short.'"
        ))?;
        out.line(format!("  rekindle{home} list"))?;
        if !agents.is_empty() {
            let words: Vec<&str> = agents.iter().map(|agent| agent.word()).collect();
            out.line(format!(
                "  rekindle{home} install {}        lets your agents remember",
                words.join(" ")
            ))?;
        }
        out.line(format!("  rekindle{home} doctor        checks that everything is in order"))
    }
}

/// The settings are read from everywhere, so a path in them must not depend on where we are now.
fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    match path.strip_prefix("~") {
        Ok(rest) => {
            let home = environment::home_folder()
                .ok_or_else(|| Failure::usage("there is no home folder for `~`"))?;
            Ok(home.join(rest))
        }
        Err(_) => Ok(std::path::absolute(path)?),
    }
}
