//! The environment that determines the agents' folders.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::platform::environment;

/// The environment that determines the agents' folders.
#[derive(Clone, Debug, Default)]
pub struct InstallEnvironment {
    /// The user's home folder.
    pub home: Option<PathBuf>,
    /// The value of `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// The value of `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// The value of `GEMINI_CLI_HOME`.
    pub gemini: Option<PathBuf>,
    /// The value of `PI_CODING_AGENT_DIR`.
    pub pi: Option<PathBuf>,
    /// The search path of programs.
    pub path: Option<OsString>,
    /// The person's shell.
    pub shell: Option<PathBuf>,
}

impl InstallEnvironment {
    /// Reads the environment of this process.
    pub fn from_environment() -> Self {
        let folder = |name: &str| {
            let given = environment::raw_variable(name).filter(|text| !text.is_empty()).map(PathBuf::from)?;
            // Some shells do not expand the tilde, and some agents understand it.
            match (given.strip_prefix("~"), environment::home_folder()) {
                (Ok(rest), Some(home)) => Some(home.join(rest)),
                _ => std::path::absolute(given).ok(),
            }
        };
        Self {
            home: environment::home_folder(),
            claude: folder("CLAUDE_CONFIG_DIR"),
            codex: folder("CODEX_HOME"),
            gemini: folder("GEMINI_CLI_HOME"),
            pi: folder("PI_CODING_AGENT_DIR"),
            path: environment::raw_variable("PATH"),
            shell: environment::raw_variable("SHELL").map(PathBuf::from).filter(|shell| shell.is_absolute()),
        }
    }

    /// The first program with this name on the search path.
    pub(crate) fn find_program(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(self.path.as_ref()?);
        let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };
        folders
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| endings.iter().map(move |ending| folder.join(format!("{name}{ending}"))))
            .find(|path| path.is_file())
    }
}
