//! What of this machine decides where agents are.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::platform::environment;

/// What of this machine decides where agents are.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The person's home folder.
    pub home: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`.
    pub codex: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`.
    pub gemini: Option<PathBuf>,
    /// `PI_CODING_AGENT_DIR`.
    pub pi: Option<PathBuf>,
    /// Where programs are looked for.
    pub path: Option<OsString>,
}

impl Machine {
    /// This one.
    pub fn look() -> Self {
        let folder = |name: &str| {
            let given = environment::raw(name).filter(|text| !text.is_empty()).map(PathBuf::from)?;
            // Written by shells that do not expand it, and understood by some of the agents.
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
            path: environment::raw("PATH"),
        }
    }

    /// The first program of this name on the path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let folders = std::env::split_paths(self.path.as_ref()?);
        let endings: &[&str] = if cfg!(windows) { &[".exe", ".cmd", ""] } else { &[""] };
        folders
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| endings.iter().map(move |ending| folder.join(format!("{name}{ending}"))))
            .find(|path| path.is_file())
    }
}
