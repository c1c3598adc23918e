//! Where a value stood, and what can be wrong with it.
//!
//! Messages never repeat a value: it may be private, and in a project file it is somebody else's text.

use std::fmt;
use std::path::PathBuf;

use super::keys::{Key, PROJECT_KEYS, nearest};

/// The layer a value comes from, strongest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The command line.
    Flag,
    /// An environment variable, by name.
    Env(String),
    /// The project's own file.
    Project(PathBuf),
    /// The person's file.
    User(PathBuf),
    /// The defaults shipped with the program.
    Default,
}

impl Source {
    /// One word for the layer, as JSON output says it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Env(_) => "env",
            Self::Project(_) => "project",
            Self::User(_) => "user",
            Self::Default => "default",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("command line"),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Project(path) | Self::User(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("shipped default"),
        }
    }
}

/// A source and, in a file, the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The layer.
    pub source: Source,
    /// Counted from one; files only.
    pub line: Option<usize>,
}

impl Place {
    pub(super) fn of(source: Source) -> Self {
        Self { source, line: None }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) if self.source != Source::Default => write!(f, "{}:{line}", self.source),
            _ => write!(f, "{}", self.source),
        }
    }
}

/// What is wrong with a layer, where, and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The file could not be read as text.
    #[error("{file}: {problem}")]
    Unreadable {
        /// The file.
        file: Source,
        /// What the system or the decoder said.
        problem: String,
    },
    /// The file is not TOML.
    #[error("{file}:{line}:{column}: this is not valid TOML: {problem}")]
    Toml {
        /// The file.
        file: Source,
        /// Counted from one.
        line: usize,
        /// Counted from one, in characters.
        column: usize,
        /// What the parser said.
        problem: String,
    },
    /// A key nobody knows.
    #[error("{place}: there is no setting {}; {}", shown(key), hint(*nearest))]
    UnknownKey {
        /// Where it stood.
        place: Place,
        /// As it was written.
        key: String,
        /// The key that was probably meant.
        nearest: Option<&'static str>,
    },
    /// A value of the wrong type, out of range, or of the wrong shape.
    #[error("{place}: {key} must be {allowed}")]
    BadValue {
        /// Where it stood.
        place: Place,
        /// The setting.
        key: &'static str,
        /// What is allowed, in words.
        allowed: String,
    },
    /// Two thresholds the wrong way round.
    #[error(
        "memory.confidence.high ({high}, {high_place}) is below memory.confidence.medium ({medium}, \
         {medium_place}); raise the first or lower the second"
    )]
    Confidence {
        /// The upper threshold.
        high: f64,
        /// Where it stood.
        high_place: Box<Place>,
        /// The lower threshold.
        medium: f64,
        /// Where it stood.
        medium_place: Box<Place>,
    },
    /// A project file reaches for something it may not set.
    #[error("{place}: a project file may not set {key}, only {}", PROJECT_KEYS.join(", "))]
    NotForProjects {
        /// Where it stood.
        place: Place,
        /// The setting.
        key: &'static str,
    },
    /// A project file wants memory on where the person switched it off.
    #[error("{place}: memory.enabled is switched off ({off}), and a project file may not switch it back on")]
    SwitchedOff {
        /// Where the project file says so.
        place: Place,
        /// Where it was switched off.
        off: Place,
    },
    /// A project file wants what is learnt in it to reach every project.
    #[error(
        "{place}: a project file may not set memory.scope to global: what is learnt there would reach every project"
    )]
    ProjectWantsGlobal {
        /// Where it says so.
        place: Place,
    },
    /// Checked values that still do not make a [`super::Config`]: the key table and the structs disagree.
    #[error("the settings do not fit together; this is a fault in rekindle, please report it")]
    Misfit,
}

impl Error {
    pub(super) fn unknown(key: &str, place: Place) -> Self {
        Self::UnknownKey { place, key: key.to_owned(), nearest: nearest(key) }
    }

    pub(super) fn bad_value(key: &Key, place: Place) -> Self {
        Self::BadValue { place, key: key.name, allowed: key.kind.allowed() }
    }
}

fn hint(nearest: Option<&str>) -> String {
    match nearest {
        Some(key) => format!("did you mean {key}?"),
        None => "`rekindle config list` shows them all".to_owned(),
    }
}

/// A key as it may be printed: a quoted TOML key can hold anything, terminal escapes included.
fn shown(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if key.len() <= 64 && !key.is_empty() && key.chars().all(plain) {
        format!("`{key}`")
    } else {
        "of that name".to_owned()
    }
}
