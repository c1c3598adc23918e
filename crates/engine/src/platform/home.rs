//! The folders and files of Rekindle.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use rekindle_core::config::{Config, ReadNotes};

use crate::platform::environment;

/// The variable that names the home folder of Rekindle.
pub const HOME_VARIABLE: &str = "REKINDLE_HOME";

/// An error in the configured folders.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No folder was configured, and the system has no home folder.
    #[error("no home folder found; set REKINDLE_HOME or pass --home DIR")]
    NoHome,
    /// `--home` or `REKINDLE_HOME` is not a path.
    #[error("the Rekindle home must be the path of a folder: {0}")]
    BadHome(std::io::Error),
    /// `REKINDLE_HOME` is a relative path, so every working folder would get a memory of its own.
    #[error("REKINDLE_HOME is `{}`, which is not an absolute path; use one such as /home/you/.rekindle", .0.display())]
    RelativeHome(PathBuf),
    /// A path begins with `~`, but the system has no home folder.
    #[error("{setting} begins with ~, but no home folder was found; use an absolute path")]
    Tilde {
        /// The name of the setting.
        setting: &'static str,
    },
    /// The state folder is inside the notes vault (R-02).
    #[error(
        "paths.state ({}) is inside the notes vault ({}), where sync and note apps corrupt databases and locks; set paths.state to a folder outside, or vault.notes to another folder",
        state.display(), notes.display()
    )]
    StateInNotes {
        /// The path of the state folder.
        state: PathBuf,
        /// The path of the notes vault.
        notes: PathBuf,
    },
    /// The notes vault is inside the state folder: state is deleted and rebuilt, notes are not.
    #[error(
        "the notes vault ({}) is inside paths.state ({}), whose content may be deleted and rebuilt; set vault.notes to a folder outside",
        notes.display(), state.display()
    )]
    NotesInState {
        /// The path of the state folder.
        state: PathBuf,
        /// The path of the notes vault.
        notes: PathBuf,
    },
}

/// The home folder of Rekindle, the parent of all others unless a setting says otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeFolder {
    root: PathBuf,
    /// The folder that `~` stands for.
    person: Option<PathBuf>,
}

impl HomeFolder {
    /// Takes `--home DIR`, else `REKINDLE_HOME`, else `~/.rekindle`.
    pub fn find(flag: Option<&Path>) -> Result<Self, Error> {
        Self::find_with(flag, environment::raw_variable(HOME_VARIABLE).as_deref(), environment::home_folder())
    }

    /// The same as [`HomeFolder::find`], with the environment given.
    pub fn find_with(
        flag: Option<&Path>,
        variable: Option<&OsStr>,
        person: Option<PathBuf>,
    ) -> Result<Self, Error> {
        let variable = variable.filter(|text| !text.is_empty()).map(Path::new);
        let given = flag.or(variable);
        if flag.is_none()
            && let Some(path) = variable.filter(|path| path.is_relative() && !path.starts_with("~"))
        {
            return Err(Error::RelativeHome(path.to_owned()));
        }
        let root = match given {
            // Shells do not expand `--home=~/x`.
            Some(path) => match path.strip_prefix("~") {
                Ok(rest) => person.as_ref().ok_or(Error::NoHome)?.join(rest),
                Err(_) => std::path::absolute(path).map_err(Error::BadHome)?,
            },
            None => person.as_ref().ok_or(Error::NoHome)?.join(".rekindle"),
        };
        Ok(Self { root, person })
    }

    /// The folder itself; always absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The user's settings file.
    pub fn config_file(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// The models that the user added (R-04). They are outside of the state folder, which may be deleted:
    /// nothing can rebuild them.
    pub fn models(&self) -> PathBuf {
        self.root.join("models")
    }

    /// The folders that the settings choose. Fails if state and notes would mix (R-02); changes nothing on
    /// disk.
    pub fn data_paths(&self, config: &Config) -> Result<DataPaths, Error> {
        let notes = self.path("vault.notes", &config.vault.notes, "vault")?;
        let state = self.path("paths.state", &config.paths.state, "state")?;
        let identity = self.path("paths.identity", &config.paths.identity, "agents")?;
        // Default links begin with ~. A machine without a home folder has nothing to link, and must still
        // work with --home.
        let links =
            config.identity.links.iter().filter_map(|text| self.path("identity.links", text, "").ok());
        let links = links.collect();

        let (real_state, real_notes) = (resolve(&state), resolve(&notes));
        if real_state.starts_with(&real_notes) {
            return Err(Error::StateInNotes { state, notes });
        }
        if real_notes.starts_with(&real_state) {
            return Err(Error::NotesInState { state, notes });
        }
        let (vault, readable) = (notes.join(&config.vault.folder), config.recall.notes.clone());
        Ok(DataPaths { vault, notes, readable, state, identity, links })
    }

    fn path(&self, setting: &'static str, text: &str, default: &str) -> Result<PathBuf, Error> {
        let path = Path::new(if text.is_empty() { default } else { text });
        match path.strip_prefix("~") {
            Ok(rest) => Ok(self.person.as_ref().ok_or(Error::Tilde { setting })?.join(rest)),
            // An absolute path replaces the root.
            Err(_) => Ok(self.root.join(path)),
        }
    }
}

/// The folders that the settings choose. None of them needs to exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataPaths {
    notes: PathBuf,
    vault: PathBuf,
    readable: ReadNotes,
    state: PathBuf,
    identity: PathBuf,
    links: Vec<PathBuf>,
}

impl DataPaths {
    /// The notes vault: `Ideas.md` and the user's other notes.
    pub fn notes(&self) -> &Path {
        &self.notes
    }

    /// The notes outside the vault that recall may read (R-16).
    pub fn readable_notes(&self) -> &ReadNotes {
        &self.readable
    }

    /// The memory vault, inside the notes vault.
    pub fn vault(&self) -> &Path {
        &self.vault
    }

    /// The state folder, which only this machine reads.
    pub fn state(&self) -> &Path {
        &self.state
    }

    /// The identity files (IDN-01).
    pub fn identity(&self) -> &Path {
        &self.identity
    }

    /// Folders whose `AGENTS.md` must be the same file (IDN-02).
    pub fn identity_links(&self) -> &[PathBuf] {
        &self.links
    }

    /// The folder of lock files.
    pub fn locks_folder(&self) -> PathBuf {
        self.state.join("locks")
    }

    /// The journal of changes, for undo (B-09).
    pub fn journal_file(&self) -> PathBuf {
        self.state.join("journal.jsonl")
    }

    /// The spool: events that hooks left for the worker.
    pub fn spool_folder(&self) -> PathBuf {
        self.state.join("spool")
    }

    /// The database of events, runs and sessions.
    pub fn database(&self) -> PathBuf {
        self.state.join("rekindle.db")
    }

    /// The searchable session messages.
    pub fn messages(&self) -> PathBuf {
        self.state.join("messages")
    }

    /// The session markers (EXE-13).
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }

    /// Texts open in the user's editor.
    pub fn editing_folder(&self) -> PathBuf {
        self.state.join("editing")
    }

    /// Approved changes to identity files that wait to be applied: derived data, may be deleted.
    pub fn patches_folder(&self) -> PathBuf {
        self.state.join("patches")
    }

    /// The copy of the proposals, in case the database is lost (B-07).
    pub fn proposals_folder(&self) -> PathBuf {
        self.state.join("proposals")
    }

    /// Messages to the user that wait for a hook that can show them.
    pub fn notices_file(&self) -> PathBuf {
        self.state.join("notices")
    }

    /// The folder of log files.
    pub fn logs_folder(&self) -> PathBuf {
        self.state.join("logs")
    }

    /// The index for recall: derived data, may be deleted.
    pub fn index(&self) -> PathBuf {
        self.state.join("index")
    }

    /// The usage of memories (REC-08).
    pub fn usage(&self) -> PathBuf {
        self.state.join("usage.jsonl")
    }

    /// The measured cost of the cross-encoder on this processor.
    pub fn reading_pace(&self) -> PathBuf {
        self.state.join("reading-pace")
    }

    /// The recall quality of each measurement (B-10).
    pub fn evaluations_file(&self) -> PathBuf {
        self.state.join("eval.jsonl")
    }

    /// The scratch homes of running gates. One that a killed gate left is removed by the next.
    pub fn gate_folder(&self) -> PathBuf {
        self.state.join("gate")
    }

    /// The results of past gates (B-10).
    pub fn gate_history(&self) -> PathBuf {
        self.state.join("gate.jsonl")
    }

    /// The installation as its last milestone left it (O11-17).
    pub fn milestones_file(&self) -> PathBuf {
        self.state.join("milestones.json")
    }

    /// The unfinished forgets (B-08).
    pub fn forget(&self) -> PathBuf {
        self.state.join("forget")
    }

    /// The copies that `restore` makes of what it replaces.
    pub fn backups_folder(&self) -> PathBuf {
        self.state.join("backups")
    }

    /// The stop file: while it exists, nothing runs.
    pub fn stop_file(&self) -> PathBuf {
        self.state.join("STOP")
    }

    /// The projects seen on this machine (B-05).
    pub fn projects_file(&self) -> PathBuf {
        self.state.join("projects.json")
    }
}

/// The path with links resolved as far as it exists, so that two ways to write one folder compare as equal.
fn resolve(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::ParentDir)) => {
            let mut above = resolve(parent);
            above.pop();
            above
        }
        (Some(parent), Some(Component::Normal(name))) => resolve(parent).join(name),
        _ => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use rekindle_core::config::{ConfigLayers, load};

    use super::*;

    fn config(flags: &[(&str, &str)]) -> Config {
        let flags: Vec<_> = flags.iter().map(|(key, text)| ((*key).to_owned(), (*text).to_owned())).collect();
        load(&ConfigLayers { flags: &flags, variables: &|_| None, project: None, user: None }).unwrap().config
    }

    fn home() -> HomeFolder {
        HomeFolder::find_with(Some(Path::new("/r")), None, Some("/u".into())).unwrap()
    }

    #[test]
    fn r_01_flag_then_variable_then_the_hidden_folder() {
        let root = |flag: Option<&str>, variable: Option<&str>, person: Option<&str>| {
            let home = HomeFolder::find_with(
                flag.map(Path::new),
                variable.map(OsStr::new),
                person.map(PathBuf::from),
            );
            home.map(|home| home.root().to_owned())
        };
        assert_eq!(root(Some("/f"), Some("/v"), Some("/u")).unwrap(), Path::new("/f"));
        assert_eq!(root(None, Some("/v"), Some("/u")).unwrap(), Path::new("/v"));
        assert_eq!(root(None, Some(""), Some("/u")).unwrap(), Path::new("/u/.rekindle"));
        assert_eq!(root(None, None, Some("/u")).unwrap(), Path::new("/u/.rekindle"));
        assert_eq!(root(Some("~/trial"), None, Some("/u")).unwrap(), Path::new("/u/trial"));
        assert_eq!(root(None, Some("~"), Some("/u")).unwrap(), Path::new("/u"));
        let here = std::env::current_dir().unwrap();
        assert_eq!(root(Some("trial"), None, None).unwrap(), here.join("trial"));
        assert!(matches!(root(None, None, None), Err(Error::NoHome)));
        assert!(matches!(root(Some("~/trial"), None, None), Err(Error::NoHome)));
        assert!(matches!(root(Some(""), None, Some("/u")), Err(Error::BadHome(_))));
        // A relative variable would mean another folder in every folder; a relative flag is typed for this
        // one.
        assert!(matches!(root(None, Some("mem"), Some("/u")), Err(Error::RelativeHome(_))));
    }

    /// Derives all places from one root. Requirements: FND-09.
    #[test]
    fn r_02_two_places_under_one_root() {
        let places = home().data_paths(&config(&[])).unwrap();
        assert_eq!(home().config_file(), Path::new("/r/config.toml"));
        assert_eq!(home().models(), Path::new("/r/models"));
        assert_eq!(places.notes(), Path::new("/r/vault"));
        assert_eq!(places.vault(), Path::new("/r/vault/MemoryVault"));
        assert_eq!(places.state(), Path::new("/r/state"));
        assert_eq!(places.identity(), Path::new("/r/agents"));
        assert_eq!(places.identity_links()[0], Path::new("/u/.agents"));
        assert_eq!(places.stop_file(), Path::new("/r/state/STOP"));
        let in_state = [
            places.locks_folder(),
            places.journal_file(),
            places.spool_folder(),
            places.sessions(),
            places.logs_folder(),
        ];
        assert!(in_state.iter().all(|path| path.starts_with("/r/state")));
    }

    #[test]
    fn gen_02_every_path_can_be_elsewhere() {
        let places = home()
            .data_paths(&config(&[
                ("vault.notes", "~/Notes"),
                ("vault.folder", "Mind"),
                ("paths.state", "/var/rk"),
                ("paths.identity", "who"),
                ("identity.links", "../x"),
            ]))
            .unwrap();
        assert_eq!(places.vault(), Path::new("/u/Notes/Mind"));
        assert_eq!(places.state(), Path::new("/var/rk"));
        assert_eq!(places.identity(), Path::new("/r/who"));
        assert_eq!(places.identity_links(), [Path::new("/r/../x")]);

        let homeless = HomeFolder::find_with(Some(Path::new("/r")), None, None).unwrap();
        assert!(homeless.data_paths(&config(&[])).unwrap().identity_links().is_empty());
        let error = homeless.data_paths(&config(&[("vault.notes", "~/Notes")])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "vault.notes begins with ~, but no home folder was found; use an absolute path"
        );
    }

    #[test]
    fn r_02_state_and_notes_never_mix() {
        let refused = |notes: &str, state: &str| {
            home()
                .data_paths(&config(&[("vault.notes", notes), ("paths.state", state)]))
                .unwrap_err()
                .to_string()
        };
        for (notes, state) in [("/n", "/n/state"), ("/n", "/n"), (".", ""), ("/n", "/m/../n/x"), ("/", "/s")]
        {
            let message = refused(notes, state);
            assert!(
                message.starts_with("paths.state (") && message.contains("inside the notes vault"),
                "{message}"
            );
        }
        assert!(refused("state/notes", "").contains("is inside paths.state"));
        let beside = config(&[("vault.notes", "/notes"), ("paths.state", "/notes-state")]);
        assert!(home().data_paths(&beside).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn r_02_a_link_does_not_hide_that_state_is_in_the_notes() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name).to_str().unwrap().to_owned();
        std::fs::create_dir(at("synced")).unwrap();
        std::os::unix::fs::symlink(at("synced"), at("link")).unwrap();
        let config = config(&[("vault.notes", &at("synced")), ("paths.state", &at("link/deep/state"))]);
        assert!(matches!(home().data_paths(&config), Err(Error::StateInNotes { .. })));
    }
}
