//! Configuration errors and the place of a value.
//!
//! Messages never repeat a value. It may be private, and a project file is written by somebody else.

use std::fmt;
use std::path::PathBuf;

use super::keys::{PROJECT_KEYS, SettingKey, suggest_key};

/// The layer that a value comes from, strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigSource {
    /// A command line flag.
    Flag,
    /// An environment variable, with its name.
    Env(String),
    /// The project's file, `.rekindle.toml`.
    Project(PathBuf),
    /// The user's file, `config.toml`.
    User(PathBuf),
    /// The defaults shipped with the program.
    Default,
}

impl ConfigSource {
    /// The layer's name in JSON output.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Env(_) => "env",
            Self::Project(_) => "project",
            Self::User(_) => "user",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Project(path) | Self::User(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("shipped default"),
        }
    }
}

/// A layer and, for a file, the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigLocation {
    /// The layer of the value.
    pub source: ConfigSource,
    /// The line number in a file, starting at one.
    pub line: Option<usize>,
}

impl ConfigLocation {
    pub(super) fn in_source(source: ConfigSource) -> Self {
        Self { source, line: None }
    }
}

impl fmt::Display for ConfigLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) if self.source != ConfigSource::Default => write!(f, "{}:{line}", self.source),
            _ => write!(f, "{}", self.source),
        }
    }
}

/// An error in one configuration layer: what is wrong, where, and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// A file could not be read as text.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file that failed.
        file: ConfigSource,
        /// The message of the system or the decoder.
        problem: String,
    },
    /// A file is not valid TOML.
    #[error("{file}:{line}:{column}: this is not valid TOML: {problem}")]
    Toml {
        /// The file that failed.
        file: ConfigSource,
        /// The line number, starting at one.
        line: usize,
        /// The column in characters, starting at one.
        column: usize,
        /// The error message of the parser.
        problem: String,
    },
    /// A key that is not a setting.
    #[error("{place}: there is no setting {}; {}", printable_key(key), hint(*nearest))]
    UnknownKey {
        /// The position of the key.
        place: ConfigLocation,
        /// The key as it was written.
        key: String,
        /// The known key that is most similar, if any.
        nearest: Option<&'static str>,
    },
    /// A setting of an earlier version, which is ignored.
    #[error("{place}: {key} is no longer a setting and is ignored; delete it there")]
    RemovedKey {
        /// The position of the key.
        place: ConfigLocation,
        /// The name of the former setting.
        key: String,
    },
    /// A value has the wrong type or shape, or is out of range.
    #[error("{place}: {key} must be {allowed}")]
    BadValue {
        /// The position of the value.
        place: ConfigLocation,
        /// The name of the setting.
        key: &'static str,
        /// The allowed values, in words.
        allowed: String,
    },
    /// The upper confidence threshold is below the lower one.
    #[error(
        "memory.confidence.high ({high}, {high_place}) is below memory.confidence.medium ({medium}, \
         {medium_place}); raise the first or lower the second"
    )]
    Confidence {
        /// The value of the upper threshold.
        high: f64,
        /// The position of the upper threshold.
        high_place: Box<ConfigLocation>,
        /// The value of the lower threshold.
        medium: f64,
        /// The position of the lower threshold.
        medium_place: Box<ConfigLocation>,
    },
    /// A project file sets a key that is not allowed there.
    #[error("{place}: a project file may not set {key}, only {}", PROJECT_KEYS.join(", "))]
    NotForProjects {
        /// The position of the key.
        place: ConfigLocation,
        /// The name of the setting.
        key: &'static str,
    },
    /// A project file enables memory although the user switched it off.
    #[error("{place}: memory.enabled is off ({off}), and a project file may not turn it back on")]
    SwitchedOff {
        /// The position of the value in the project file.
        place: ConfigLocation,
        /// The position of the user's switch.
        off: ConfigLocation,
    },
    /// A project file sets the global scope, which would write what is learnt in it into every project
    ///
    #[error(
        "{place}: a project file may not set memory.scope to global: what is learnt there would reach every project"
    )]
    ProjectWantsGlobal {
        /// The position of the value.
        place: ConfigLocation,
    },
    /// The values passed all checks but do not make a [`super::Config`], because the key table and the
    /// structs disagree.
    #[error("the settings are inconsistent; this is a bug in Rekindle, please report it")]
    Misfit,
}

impl Error {
    pub(super) fn unknown(key: &str, place: ConfigLocation) -> Self {
        Self::UnknownKey { place, key: key.to_owned(), nearest: suggest_key(key) }
    }

    pub(super) fn bad_value(key: &SettingKey, place: ConfigLocation) -> Self {
        Self::BadValue { place, key: key.name, allowed: key.kind.allowed_text() }
    }
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(key) => format!("did you mean {key}?"),
        None => "list them with `rekindle config list`".to_owned(),
    }
}

/// Formats a key for a message. A quoted TOML key can contain anything, terminal escapes included.
fn printable_key(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if key.len() <= 64 && !key.is_empty() && key.chars().all(plain) {
        format!("`{key}`")
    } else {
        "of that name".to_owned()
    }
}
