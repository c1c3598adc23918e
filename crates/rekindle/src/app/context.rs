//! The context of one command: its home, settings, project and clock.

use std::cell::Cell;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use rekindle_core::base::scope::{ProjectId, Scope};
use rekindle_core::base::time::{Timestamp, Zoned, day};
use rekindle_core::config::{LoadedConfig, ScopeRule};
use rekindle_core::project::Claim;
use rekindle_core::recall::rewrite::{MAX_MESSAGES, RewriteMessage, RewriteOutcome, rewrite};
use rekindle_core::session::MessageRole;
use rekindle_core::session::command_speaker::{CommandSpeaker, detect_speaker, is_agent_shell};
use rekindle_core::text::RedactionCounts;
use rekindle_core::vault::journal::ChangeActor;
use rekindle_engine::config;
use rekindle_engine::index::models::{LoadedModel, ModelStore};
use rekindle_engine::index::{Embedder, RecallIndex};
use rekindle_engine::jobs::context::StageContext;
use rekindle_engine::jobs::queue::RunQueue;
use rekindle_engine::llm::ModelJob;
use rekindle_engine::platform::background;
use rekindle_engine::platform::clock;
use rekindle_engine::platform::db::Database;
use rekindle_engine::platform::environment;
use rekindle_engine::platform::home::{DataPaths, HomeFolder};
use rekindle_engine::project::{self, IdentifiedProject};
use rekindle_engine::recall::indexer::{Indexer, SettleOutcome};
use rekindle_engine::recall::messages::MessageStore;
use rekindle_engine::vault::{ScanCache, Vault};

use crate::error::CliError;
use crate::options::GlobalOptions;
use crate::output::Printer;

/// The context of a command.
pub(crate) struct CommandContext<'a> {
    pub(crate) home: HomeFolder,
    pub(crate) settings: LoadedConfig,
    pub(crate) places: DataPaths,
    pub(crate) project: Option<IdentifiedProject>,
    pub(crate) now: Zoned,
    pub(crate) cwd: PathBuf,
    pub(crate) out: &'a Printer,
    /// The listings of a program that answers many requests.
    scans: Option<ScanCache>,
    /// True if the vault was opened to change it.
    changing: Cell<bool>,
}

impl<'a> CommandContext<'a> {
    pub(crate) fn new(global: &GlobalOptions, out: &'a Printer) -> Result<Self, CliError> {
        let cwd = std::env::current_dir()
            .map_err(|error| CliError::new(format!("cannot use the current folder: {error}")))?;
        Self::in_folder(global, out, cwd)
    }

    /// Creates a context for another working folder.
    pub(crate) fn in_folder(
        global: &GlobalOptions,
        out: &'a Printer,
        cwd: PathBuf,
    ) -> Result<Self, CliError> {
        let home = HomeFolder::find(global.home.as_deref())?;
        let place = project::locate(&cwd, environment::home_folder().as_deref());
        let root = place.as_ref().map(|place| place.root.as_path());
        let settings = config::read(&home, root, &global.settings)?;
        for warning in &settings.warnings {
            out.warn(warning);
        }
        let places = home.data_paths(&settings.config)?;
        let project =
            place.map(|place| project::identify_folder(&place, &project::load(&places.projects_file())));
        let now = clock::now(config::zone(&settings)?);
        Ok(Self { home, settings, places, project, now, cwd, out, scans: None, changing: Cell::new(false) })
    }

    /// The same context with a cache of listings.
    pub(crate) fn with_scan_cache(self, scans: ScanCache) -> Self {
        Self { scans: Some(scans), ..self }
    }

    /// Opens the vault, which must exist.
    pub(crate) fn vault(&self) -> Result<Vault, CliError> {
        let vault = Vault::open(&self.places)?.in_zone(self.now.time_zone().clone());
        Ok(match &self.scans {
            // After a change, an earlier listing of the same request no longer holds.
            Some(scans) if self.changing.get() => vault.with_scan_cache(scans.unshared()),
            Some(scans) => vault.with_scan_cache(scans.clone()),
            None => vault,
        })
    }

    /// Opens the vault for a command that changes it, which the kill switch forbids (OPS-03). `forget` is
    /// exempt, because deletion is always allowed.
    pub(crate) fn writable_vault(&self) -> Result<Vault, CliError> {
        if !self.settings.config.memory.enabled {
            let place = self.settings.get("memory.enabled")?.place.to_string();
            return Err(CliError::new(format!("memory is off (memory.enabled, {place}), so nothing is written"))
                .hint("turn it on with `rekindle config set memory.enabled true`, or for this command only with `-c memory.enabled=true`"));
        }
        self.changing.set(true);
        let vault = self.vault()?;
        vault.resume_forgets(&self.now)?;
        Ok(vault)
    }

    /// Opens the vault for `forget`, which ignores the kill switch.
    pub(crate) fn vault_for_forget(&self) -> Result<Vault, CliError> {
        self.changing.set(true);
        self.vault()
    }

    /// Determines the scope of something saved here: the project's, unless the person or the settings say
    /// otherwise.
    pub(crate) fn scope(&self, global: bool) -> Result<Scope, CliError> {
        let rule = self.settings.config.memory.scope;
        match &self.project {
            Some(found) if !global && rule != ScopeRule::Global => {
                match project::remember(&self.places.projects_file(), found) {
                    Ok(project) => Ok(Scope::Project(project.id)),
                    Err(error) => {
                        self.out.warn(error);
                        Ok(Scope::Project(found.project.id.clone()))
                    }
                }
            }
            None if !global && rule == ScopeRule::Project => Err(CliError::usage(
                "this folder is not in a project",
            )
            .hint(
                "use `--global` to save it for every project; `rekindle project` explains what counts as a project",
            )),
            _ => Ok(Scope::Global),
        }
    }

    /// Determines the scope without recording the project.
    pub(crate) fn save_scope(&self) -> Scope {
        match self.project_id() {
            Some(project) if self.settings.config.memory.scope != ScopeRule::Global => {
                Scope::Project(project.clone())
            }
            _ => Scope::Global,
        }
    }

    /// The speaker who runs this command.
    pub(crate) fn speaker(&self) -> CommandSpeaker {
        let at_terminal =
            io::stdin().is_terminal() || io::stdout().is_terminal() || io::stderr().is_terminal();
        detect_speaker(is_set, at_terminal)
    }

    /// True if an agent started the shell that runs this command.
    pub(crate) fn is_agent_shell(&self) -> bool {
        is_agent_shell(is_set)
    }

    /// The actor that the journal names for a change that adds words.
    pub(crate) fn actor(&self) -> ChangeActor {
        match self.speaker() {
            CommandSpeaker::Person => ChangeActor::User,
            CommandSpeaker::Agent => ChangeActor::Agent,
        }
    }

    /// Refuses an action that only the person may take. `what` completes "an agent cannot": "approve a
    /// proposal".
    pub(crate) fn require_person(&self, what: &str) -> Result<(), CliError> {
        require_person(what)
    }

    /// Refuses words that may not be the person's: an agent's, or those of a program without a terminal
    ///
    pub(crate) fn require_person_words(&self, what: &str) -> Result<(), CliError> {
        require_person(what)?;
        match self.speaker() {
            CommandSpeaker::Person => Ok(()),
            CommandSpeaker::Agent => {
                Err(CliError::new(format!("a program without a terminal cannot {what}"))
                    .hint("run it yourself at a terminal; `rekindle save` keeps it as unreviewed"))
            }
        }
    }

    /// The context of the background functions.
    pub(crate) fn stage_context(&self) -> StageContext {
        let zone = self.now.time_zone().clone();
        StageContext::new(self.home.clone(), self.places.clone(), self.settings.config.clone(), zone)
    }

    /// Opens the queue of runs, if there is one.
    pub(crate) fn queue(&self) -> Result<Option<RunQueue>, CliError> {
        Ok(Database::open_existing(&self.places.database())?.map(RunQueue::new))
    }

    /// The index of the vault and the sessions.
    pub(crate) fn index(&self) -> RecallIndex {
        RecallIndex::in_folder(self.places.index())
    }

    /// Loads the model that the settings name.
    pub(crate) fn model(&self) -> Result<LoadedModel, CliError> {
        Ok(ModelStore::open(&self.home).load(self.settings.config.embed.model.as_str())?)
    }

    /// Loads the model, or warns that there is none: keyword search then works alone (REC-11).
    pub(crate) fn model_if_any(&self) -> Option<LoadedModel> {
        self.model().map_err(|failure| self.out.warn(failure.message)).ok()
    }

    /// Rewrites the question if the settings ask for it and a model is set up (REC-05). The rewrite has a
    /// deadline of its own, and any failure leaves the question unchanged.
    pub(crate) fn rewrite(&self, query: &str) -> RewriteOutcome {
        if !self.settings.config.recall.rewrite {
            return RewriteOutcome::Disabled;
        }
        match self.stage_context().model(ModelJob::Observer) {
            Ok(Some(model)) => {
                let messages = MessageStore::from_paths(&self.places).recent_messages(
                    &self.cwd,
                    MAX_MESSAGES,
                    self.now.timestamp(),
                );
                let messages: Vec<RewriteMessage<'_>> = messages
                    .iter()
                    .map(|kept| RewriteMessage {
                        from_user: kept.role == MessageRole::User,
                        text: &kept.text,
                    })
                    .collect();
                rewrite(query, &messages, Some(&model))
            }
            Ok(None) => {
                let missing = "recall.rewrite is on, but no language model is set up (`rekindle llm`)";
                self.out.warn(format!("{missing}; searching with the original question"));
                rewrite(query, &[], None)
            }
            Err(error) => RewriteOutcome::Failed { why: error.into() },
        }
    }

    /// Indexes the changes of this command. The changes are durable, whatever happens here. A failed command
    /// may have written something before the failure, but no new index is created for that.
    pub(crate) fn index_changes(&self, succeeded: bool) {
        if !self.changing.get() || (!succeeded && !self.places.index().exists()) {
            return;
        }
        if self.index_pending() == Some(SettleOutcome::Later) {
            self.index_later();
        }
    }

    /// Indexes the changes in the middle of a command; the rest is left to its end.
    pub(crate) fn index_batch(&self) {
        self.changing.set(true);
        self.index_pending();
    }

    fn index_pending(&self) -> Option<SettleOutcome> {
        let (model, vault) = (self.model_if_any()?, self.vault().ok()?);
        let index = self.index();
        let indexer = Indexer { vault: &vault, index: &index, embedder: Embedder::new(model.name(), &model) };
        match indexer.index_pending() {
            Ok(settled) => Some(settled),
            Err(error) => {
                self.out.warn(format!("saved, but not indexed yet: {error}"));
                None
            }
        }
    }

    /// Starts a background process that updates the index, if the settings allow it.
    pub(crate) fn index_later(&self) {
        if !self.settings.config.index.background {
            return;
        }
        let Some(home) = self.home.root().to_str() else { return };
        let arguments = ["--home", home, "reindex", "--background"];
        if let Err(error) = background::start_detached(&arguments, self.places.state()) {
            self.out.warn(format!("could not start a background process for the index: {error}"));
        }
    }

    /// The project of this folder.
    pub(crate) fn project_id(&self) -> Option<&ProjectId> {
        self.project.as_ref().map(|found| &found.project.id)
    }

    /// The project that the folder's git configuration names, until the person confirms or denies it.
    pub(crate) fn claim(&self) -> Option<&Claim> {
        self.project.as_ref()?.claim.as_ref()
    }

    /// Warns about redacted secrets and about conflict copies.
    pub(crate) fn report_redactions(&self, redacted: &RedactionCounts, conflicts: &[PathBuf]) {
        if !redacted.is_empty() {
            self.out.warn(format!("removed likely secrets: {redacted}"));
        }
        for copy in conflicts {
            self.out.warn(format!(
                "the file changed at the same moment; the other version is {}",
                copy.display()
            ));
        }
    }

    /// The date of an instant in the person's time zone.
    pub(crate) fn day(&self, at: Timestamp) -> String {
        day(at.to_zoned(self.now.time_zone().clone()).date())
    }

    /// The absolute path of a file of the vault.
    pub(crate) fn file(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.places.vault().join(relative)
    }
}

/// Refuses an action that only the person may take, even without settings.
pub(crate) fn require_person(what: &str) -> Result<(), CliError> {
    match is_agent_shell(is_set) {
        false => Ok(()),
        true => Err(CliError::new(format!("an agent cannot {what}"))
            .hint("run it yourself, in a shell that no agent started")),
    }
}

/// True if an environment variable has a value.
fn is_set(name: &str) -> bool {
    environment::raw_variable(name).is_some_and(|value| !value.is_empty())
}
