//! `rekindle init`: sets up a home.

use std::path::{Path, PathBuf};

use clap::Args;
use rekindle_core::base::agent::Agent;
use rekindle_core::config::{Config, LlmProvider, LoadedConfig, ReadNotes};
use rekindle_engine::config;
use rekindle_engine::config::notes::{self, OtherNotes};
use rekindle_engine::llm::ProviderEnvironment;
use rekindle_engine::ops::setup;
use rekindle_engine::ops::setup::SetupChoices;
use rekindle_engine::pipeline::backfill::BackfillPlan;
use rekindle_engine::platform::clock;
use rekindle_engine::platform::environment;
use rekindle_engine::platform::home::HomeFolder;
use serde_json::{Value, json};

use super::backfill;
use super::install::{self, InstallArgs, InstallContext};
use super::llm::AvailableProviders;
use crate::app::CommandContext;
use crate::dialog;
use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::{Printer, TextStyle, join_names, pad_column};

#[derive(Args)]
#[command(after_help = "\
Creates the settings, the vault and the state folder, then offers to connect your agents and to learn from the
sessions you already had. You can run it again: it adds what is missing and changes nothing else.

Examples:
  rekindle init
  rekindle init --name Ada --notes ~/Obsidian
  rekindle init --notes ~/Obsidian --read-notes Work,Recipes
  rekindle --home /tmp/trial init --name Ada")]
pub(crate) struct InitArgs {
    /// The name your agents should call you
    #[arg(long)]
    name: Option<String>,
    /// Keep the memories in this existing folder of notes (Obsidian or any other)
    #[arg(long, value_name = "DIR")]
    notes: Option<PathBuf>,
    /// Let recall read your other notes: all, none, or these folders, separated by commas
    #[arg(long, value_name = "all|none|FOLDER,…")]
    read_notes: Option<String>,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
}

impl InitArgs {
    pub(crate) fn run(self, global: &GlobalOptions, out: &Printer) -> Result<(), CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        let settings = config::read(&home, None, &global.settings)?;
        let now = clock::now(config::zone(&settings)?);
        let (mut name, mut notes) = (self.name, self.notes);
        let first_time = settings.config.user.name.is_empty();
        let asking = !self.json && dialog::is_possible();
        if first_time && asking {
            if name.is_none() {
                name =
                    dialog::text("What should your agents call you?", environment::login_name().as_deref())?;
            }
            if notes.is_none() {
                notes = ask_for_notes()?;
            }
        } else if first_time && name.is_none() {
            name = environment::login_name();
        }
        let notes = notes.map(|path| absolute(&path)).transpose()?;
        let reading =
            NotesAccessChoice::choose_access(&home, &settings, notes.as_deref(), self.read_notes, asking)?;
        let choices =
            SetupChoices { name: name.as_deref(), notes: notes.as_deref(), read: reading.chosen.as_deref() };
        let items = setup::init(&home, choices, &now)?;
        let around =
            ProviderEnvironment::from_environment(&home.data_paths(&settings.config)?, &settings.config);
        let models = AvailableProviders::detect(&settings.config.llm, &around);
        if self.json {
            let object = |item: &setup::SetupItem| json!({"what": item.description, "path": item.path, "made": item.created});
            let items: Vec<_> = items.iter().map(object).collect();
            let agents = install::offered_agents(global);
            let found = past_sessions(global, out).map(|plan| plan_json(&plan));
            return out.json(&json!({
                "home": home.root(), "items": items, "agents": agents, "models": models.json(),
                "readNotes": reading.reads(), "past": found,
            }));
        }
        for item in &items {
            let word = if item.created {
                out.styled(TextStyle::Good, "made ")
            } else {
                out.styled(TextStyle::Dim, "there")
            };
            out.line(format!("{word}  {}  {}", pad_column(item.description, 8), item.path.display()))?;
        }
        out.line("")?;
        if let Some(hint) = reading.hint() {
            out.line(hint)?;
            out.line("")?;
        }
        let chosen = settings.config.llm.provider != LlmProvider::Offline;
        if let Some(found) = models.describe_found().filter(|_| !chosen) {
            out.line(found)?;
            out.line("")?;
        }
        let agents = install::offered_agents(global);
        let names: Vec<&str> = agents.iter().map(|agent| agent.name()).collect();
        if asking && !agents.is_empty() {
            let question =
                format!("Connect Rekindle to {}? You'll see every change first.", join_names(&names));
            // The home is set up by now, and the agents can be connected later.
            match dialog::yes(&question, true) {
                Ok(true) => {
                    let connected = InstallContext::find(global)
                        .and_then(|here| InstallArgs::from_offer(agents.clone()).connect(&here, global, out));
                    match connected {
                        Ok(true) => return first_hour(global, out, true),
                        Ok(false) => {}
                        Err(failure) => out.warn(failure.message),
                    }
                }
                Ok(false) => {}
                Err(_) => {
                    out.line("")?;
                    out.warn("no answer, so your agents' settings stay unchanged");
                }
            }
        }
        first_hour(global, out, asking)?;
        out.line("Next:")?;
        // The next step uses the same home.
        let home =
            global.home.as_ref().map_or_else(String::new, |home| format!(" --home {}", home.display()));
        out.line(format!(
            "  rekindle{home} save preference first --always-load --body 'Keep answers short.'"
        ))?;
        out.line(format!("  rekindle{home} list"))?;
        if !agents.is_empty() {
            let words: Vec<&str> = agents.iter().map(|agent| agent.as_str()).collect();
            out.line(format!("  rekindle{home} install {}        connects your agents", words.join(" ")))?;
        }
        out.line(format!("  rekindle{home} doctor        checks that everything works"))
    }
}

/// Asks for the folder of notes until it exists.
fn ask_for_notes() -> Result<Option<PathBuf>, CliError> {
    loop {
        let question = "An existing folder of notes to keep the memories in (empty for a new one):";
        let Some(typed) = dialog::text(question, None)? else { return Ok(None) };
        let folder = absolute(Path::new(&typed))?;
        if folder.is_dir() {
            return Ok(Some(folder));
        }
        dialog::say(&format!("There is no folder {}.", folder.display()))?;
    }
}

/// Access to the person's notes: the folders that recall may read.
struct NotesAccessChoice {
    /// The new value of the setting.
    chosen: Option<String>,
    /// The previous value of the setting.
    before: ReadNotes,
    /// True if there are other notes beside the memories and no access was chosen.
    open: bool,
    /// The name of the vault's folder in the notes.
    vault_folder: String,
}

impl NotesAccessChoice {
    /// Takes the given answer, or asks if there are other notes.
    fn choose_access(
        home: &HomeFolder,
        settings: &LoadedConfig,
        notes: Option<&Path>,
        given: Option<String>,
        asking: bool,
    ) -> Result<Self, CliError> {
        let Config { vault, recall, .. } = &settings.config;
        let notes = match notes {
            Some(notes) => notes.to_owned(),
            None => home.data_paths(&settings.config)?.notes().to_owned(),
        };
        let vault_folder = vault.folder.clone();
        let mut reading = Self { chosen: None, before: recall.notes.clone(), open: false, vault_folder };
        if let Some(given) = given {
            check(&given, &notes, &reading.vault_folder)?;
            reading.chosen = Some(given);
            return Ok(reading);
        }
        if settings.get("recall.notes")?.place.source.as_str() != "default" {
            return Ok(reading);
        }
        let others = OtherNotes::scan_folders(&notes, &reading.vault_folder);
        if others.is_empty() {
            return Ok(reading);
        }
        reading.open = !asking;
        while asking && reading.chosen.is_none() {
            let names = match others.folders.as_slice() {
                [] => String::new(),
                folders => format!(", or some of {}", folders.join(", ")),
            };
            let question = format!(
                "Which of your other notes may Rekindle read to answer your agents? (all, none{names})"
            );
            let answer = dialog::text(&question, Some("none"))?.unwrap_or_default();
            match check(&answer, &notes, &reading.vault_folder) {
                Ok(()) => reading.chosen = Some(answer),
                Err(failure) => dialog::say(&failure.message)?,
            }
        }
        Ok(reading)
    }

    /// The hint for a person who was not asked.
    fn hint(&self) -> Option<String> {
        self.open.then(|| {
            format!(
                "Rekindle reads only {}/ of your notes. To let it read more, run `rekindle config set recall.notes all`, or name folders.",
                self.vault_folder
            )
        })
    }

    /// The folders that recall reads from now on.
    fn reads(&self) -> ReadNotes {
        self.chosen.as_deref().and_then(ReadNotes::parse).unwrap_or_else(|| self.before.clone())
    }
}

/// Checks that an answer names existing folders.
fn check(answer: &str, notes: &Path, vault_folder: &str) -> Result<(), CliError> {
    let readable = ReadNotes::parse(answer).ok_or_else(|| {
        CliError::usage(format!("`{answer}` is not a folder in your notes; write all, none, or folder names"))
    })?;
    notes::check(&readable, notes, vault_folder).map_err(CliError::usage)
}

/// The sessions of the time before Rekindle, if there are any.
fn past_sessions(global: &GlobalOptions, out: &Printer) -> Option<BackfillPlan> {
    let context = CommandContext::new(global, out).ok()?;
    backfill::find(&context).ok().filter(|plan| !plan.candidates.is_empty())
}

fn plan_json(plan: &BackfillPlan) -> Value {
    let agents: Vec<Agent> = plan.agents().into_iter().collect();
    json!({"sessions": plan.candidates.len(), "agents": agents, "projects": plan.project_count()})
}

/// Reports the earlier sessions and offers to learn from them (DIS-01). A failure here leaves the rest of the
/// set-up in place.
fn first_hour(global: &GlobalOptions, out: &Printer, asking: bool) -> Result<(), CliError> {
    let Some(plan) = past_sessions(global, out) else { return Ok(()) };
    out.line(format!("Found {}.", backfill::describe_plan(&plan)))?;
    let home = global.home.as_ref().map_or_else(String::new, |home| format!(" --home {}", home.display()));
    let later = format!("You can learn from them at any time with `rekindle{home} backfill`.");
    let context = CommandContext::new(global, out)?;
    let wanted = asking
        && context.settings.config.memory.enabled
        && dialog::yes("Learn from them now, so that your agents know what you told them before?", true)
            .unwrap_or(false);
    if !wanted {
        out.line(later)?;
        return out.line("");
    }
    if let Err(failure) = backfill::backfill_all(&context, &plan) {
        out.warn(failure.message);
        out.line(later)?;
    }
    context.index_changes(true);
    out.line("")
}

/// Makes a path absolute, because the settings are read from every folder.
fn absolute(path: &Path) -> Result<PathBuf, CliError> {
    match path.strip_prefix("~") {
        Ok(rest) => {
            let home = environment::home_folder()
                .ok_or_else(|| CliError::usage("`~` has no meaning: no home folder found"))?;
            Ok(home.join(rest))
        }
        Err(_) => Ok(std::path::absolute(path)?),
    }
}
