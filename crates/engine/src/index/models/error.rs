//! Errors of models, with their hints.

use std::io;
use std::path::PathBuf;

/// The maximum length in bytes of a prefix in a model file.
pub(super) const MAX_PREFIX_BYTES: usize = 63;
use super::{BUILTIN_MODEL, MAX_NAME_CHARS};
use crate::config;

/// A problem with a model. The operation changed nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path to add is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The folder lacks files that a model needs.
    #[error("{} has no {}", .folder.display(), .names.join(" and no "))]
    Missing {
        /// The path of the folder.
        folder: PathBuf,
        /// The files that are missing.
        names: Vec<&'static str>,
        /// A file of another format that the folder has instead.
        instead: Option<&'static str>,
    },
    /// A file exceeds its limit.
    #[error("{} is {} MB; the most that is taken is {} MB", .path.display(), bytes >> 20, limit >> 20)]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// The size of the file in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The files describe a model that cannot run here.
    #[error("{}: {why}", .folder.display())]
    Unfit {
        /// The path of the folder.
        folder: PathBuf,
        /// The file, and the reason why it does not fit.
        why: String,
    },
    /// A prefix exceeds `MAX_PREFIX_BYTES`.
    #[error("the prefix for {what} has more than {MAX_PREFIX_BYTES} bytes")]
    LongPrefix {
        /// The texts that the prefix is for: queries or memories.
        what: &'static str,
    },
    /// The name is not a valid file name on every system.
    #[error(
        "`{0}` cannot be a model's name: lower-case letters, digits and single hyphens, at most {MAX_NAME_CHARS} of them"
    )]
    BadName(String),
    /// A model of that name exists already.
    #[error("there is already a model {0}")]
    Taken(String),
    /// No model has that name.
    #[error("there is no model {0} on this machine")]
    Unknown(String),
    /// The file of a model is damaged.
    #[error("the model {name} cannot be used: {}: {why}", .path.display())]
    Damaged {
        /// The name of the model.
        name: String,
        /// The path of its file.
        path: PathBuf,
        /// The description of the damage.
        why: String,
    },
    /// The model is in use and cannot be removed.
    #[error("{name} is in use ({place})")]
    InUse {
        /// The name of the model.
        name: String,
        /// The place of the setting.
        place: String,
    },
    /// The built-in model cannot be removed.
    #[error("{BUILTIN_MODEL} is part of the program and stays")]
    Builtin,
    /// The settings cannot be read or written.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A file operation failed.
    #[error("could not {doing} {}: {source}", .path.display())]
    Io {
        /// The operation, as a phrase after "could not".
        doing: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }

    /// True if the request was invalid, as opposed to its execution failing.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Damaged { .. } | Self::Io { .. })
    }

    /// The next step for the person.
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
