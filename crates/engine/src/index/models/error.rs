//! What can go wrong with a model: what, where, and what to do next.

use std::io;
use std::path::PathBuf;

/// The longest prefix in bytes that a model file holds.
pub(super) const MAX_PREFIX_BYTES: usize = 63;
use super::{BUILTIN_MODEL, MAX_NAME_CHARS};
use crate::config;

/// A problem with a model. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What should be added is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder lacks files that a model needs.
    #[error("{} has no {}", .folder.display(), .names.join(" and no "))]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The files it should have.
        names: Vec<&'static str>,
        /// A file of another format that it has instead.
        instead: Option<&'static str>,
    },
    /// More than a model may have.
    #[error("{} is {} MB; the most that is taken is {} MB", .path.display(), bytes >> 20, limit >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// What it may have.
        limit: u64,
    },
    /// The files are there, but they are no model that can be run here.
    #[error("{}: {why}", .folder.display())]
    Unfit {
        /// The folder.
        folder: PathBuf,
        /// The file, and what is wrong with it.
        why: String,
    },
    /// More than a model file holds.
    #[error("the prefix for {what} has more than {MAX_PREFIX_BYTES} bytes")]
    LongPrefix {
        /// Questions or memories.
        what: &'static str,
    },
    /// A name that cannot be a file's on every system.
    #[error(
        "`{0}` cannot be a model's name: lower-case letters, digits and single hyphens, at most {MAX_NAME_CHARS} of them"
    )]
    BadName(String),
    /// There is one of that name.
    #[error("there is already a model {0}")]
    Taken(String),
    /// There is none of that name.
    #[error("there is no model {0} on this machine")]
    Unknown(String),
    /// The file of a model is not what was written.
    #[error("the model {name} cannot be used: {}: {why}", .path.display())]
    Damaged {
        /// The model.
        name: String,
        /// Its file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot be removed while it is used.
    #[error("{name} is in use ({place})")]
    InUse {
        /// The model.
        name: String,
        /// Where that is set.
        place: String,
    },
    /// It cannot be removed from the program.
    #[error("{BUILTIN_MODEL} is part of the program and stays")]
    Builtin,
    /// The settings cannot be read or changed.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// The system refused something.
    #[error("could not {doing} {}: {source}", .path.display())]
    Io {
        /// What was being done, after "could not".
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    /// Whether it could not be asked for like that, as opposed to: it could not be done.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Damaged { .. } | Self::Io { .. })
    }

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::NotAFolder(_) => {
                "give the folder that the model was downloaded to: model.safetensors, config.json and vocab.txt \
                 or tokenizer.json are in it"
                    .into()
            }
            Self::Missing { instead: Some(other), .. } => {
                format!("it has {other}; only safetensors are read, so get the model in that format")
            }
            Self::Missing { .. } => "get the whole model; these files are part of it".into(),
            Self::TooLarge { .. } => "a smaller model of the same family answers faster, too".into(),
            Self::Unfit { .. } => {
                "models of the BERT family can be added: MiniLM, BGE, E5, GTE; not the multilingual E5, nomic or \
                 ModernBERT"
                    .into()
            }
            Self::LongPrefix { .. } => "`--query-prefix` and `--passage-prefix` give shorter ones".into(),
            Self::BadName(_) => "`--name my-model` gives it another".into(),
            Self::Taken(name) => {
                format!("`--name OTHER` gives the new one another name; `rekindle model remove {name}` makes room")
            }
            Self::Unknown(_) => format!(
                "`rekindle model list` shows what is there, `rekindle model use {BUILTIN_MODEL}` goes back to the built-in \
                 one, `rekindle model add FOLDER` adds one"
            ),
            Self::Damaged { name, .. } => format!(
                "`rekindle model use {BUILTIN_MODEL}`, `rekindle model remove {name}`, then add it again from its folder"
            ),
            Self::InUse { .. } => format!("`rekindle model use {BUILTIN_MODEL}`, or another, first"),
            Self::Builtin => "it takes no room beside the program".into(),
            Self::Config(_) => return None,
            Self::Io { .. } => "check who may read and write there, and whether the disk is full".into(),
        })
    }
}
