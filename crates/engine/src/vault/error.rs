//! Errors of the vault, with hints. No message contains the text of a note.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::vault::{frontmatter, path};

/// An error of the vault. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The vault folder does not exist.
    #[error("there is no vault at {}", .0.display())]
    Missing(PathBuf),
    /// The vault's path is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The index could not erase a text.
    #[error(transparent)]
    Index(crate::index::Error),
    /// The message store could not erase a text.
    #[error(transparent)]
    Messages(Box<dyn std::error::Error + Send + Sync>),
    /// The system reported an error.
    #[error("could not {doing} {}: {source}", .path.display())]
    Io {
        /// The attempted action, worded to follow "could not".
        doing: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A name or path that the vault cannot contain.
    #[error(transparent)]
    Path(#[from] path::Error),
    /// A link points outside of its root.
    #[error("{} points outside {}", .path.display(), .root.display())]
    LeadsOutside {
        /// The path of the link.
        path: PathBuf,
        /// The root that it must stay in.
        root: PathBuf,
    },
    /// A write outside the vault without permission.
    #[error("{0} is outside the vault, so Rekindle does not write it")]
    NotPermitted(String),
    /// The path of a note is a folder, pipe or device.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The text exceeds the size limit.
    #[error("{what} is {} KiB; the limit is {} KiB", bytes / 1024, limit / 1024)]
    TooLarge {
        /// The file or argument.
        what: String,
        /// The actual size, in bytes.
        bytes: u64,
        /// The size limit, in bytes.
        limit: u64,
    },
    /// The bytes are not UTF-8 text.
    #[error("{what}, line {line}: not UTF-8 text")]
    NotText {
        /// The file or argument.
        what: String,
        /// The first invalid line.
        line: usize,
    },
    /// The properties of a document cannot be read or changed.
    #[error("{path}, {source}")]
    Document {
        /// The path of the document.
        path: String,
        /// The error of the parser.
        source: frontmatter::Error,
    },
    /// The structure of a document cannot be read or changed.
    #[error("{path}: {why}")]
    Structure {
        /// The path of the document.
        path: String,
        /// The error, with its line.
        why: String,
    },
    /// The name is already used.
    #[error("{0} already exists")]
    Exists(String),
    /// The name differs from an existing one only in case.
    #[error("{wanted} and {there} would be one file on case-insensitive systems")]
    Collides {
        /// The name that was requested.
        wanted: String,
        /// The name that exists already.
        there: String,
    },
    /// The memory does not exist.
    #[error("there is no memory `{0}`")]
    NotFound(String),
    /// The memory does not exist, but similar names do.
    #[error("there is no memory `{wanted}`")]
    Misspelt {
        /// The name that was requested.
        wanted: String,
        /// The names that are similar.
        alike: Vec<String>,
    },
    /// The file is not a memory: a shared document, a log, internal data.
    #[error("{0} is not a memory")]
    NotAMemory(String),
    /// An agent named a memory of another project.
    #[error("{0} is not a memory of this project")]
    OtherProject(String),
    /// More than one memory matches.
    #[error("`{wanted}` could be any of these:\n{}", .matches.iter().map(|m| format!("  {m}")).collect::<Vec<_>>().join("\n"))]
    Ambiguous {
        /// The reference as given.
        wanted: String,
        /// The memories that match it.
        matches: Vec<String>,
    },
    /// The file changed since it was read.
    #[error("{0} was changed in the meantime")]
    Changed(String),
    /// An archived version cannot be evolved.
    #[error("{0} is an archived version; change the current one instead")]
    Archived(String),
    /// The memory is not in the inbox.
    #[error("{0} is not in the inbox")]
    NotInInbox(String),
    /// A note in the inbox lacks the kind of memory.
    #[error("{0} has no kind")]
    NoKind(String),
    /// The idea does not exist.
    #[error("there is no idea `{0}` in Ideas.md")]
    NoIdea(String),
    /// The idea has no folder in the incubator.
    #[error("the idea `{0}` has no folder in the incubator")]
    NoFolder(String),
    /// The idea was already promoted or archived.
    #[error("the idea `{0}` was already promoted or archived")]
    Decided(String),
    /// Some systems cannot store the file's name.
    #[error("{} has a name that some systems do not allow", .0.display())]
    OddName(PathBuf),
    /// The change is not in the journal.
    #[error("there is no change `{0}` in the journal")]
    NoChange(String),
    /// The journal has no change to undo.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// The change was already undone.
    #[error("change {0} was already undone")]
    Undone(String),
    /// An agent wants to undo a change that no agent made.
    #[error("an agent cannot undo change {0}, because no agent made it")]
    NotTheAgents(String),
    /// The text of the change was forgotten.
    #[error("change {0} cannot be undone, because its content was forgotten")]
    Forgotten(String),
    /// The change cannot be reversed any more.
    #[error("change {change} cannot be undone: {path}: {why}")]
    CannotUndo {
        /// The id of the change.
        change: String,
        /// The file at which it fails.
        path: String,
        /// The reason of the failure.
        why: String,
    },
    /// Another process holds the lock for too long.
    #[error("another rekindle process has been writing for {0} seconds")]
    Busy(u64),
    /// A forgotten text still exists somewhere.
    #[error("the text is not completely deleted; it is still in {}", .0.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "))]
    StillThere(Vec<PathBuf>),
}

impl Error {
    /// Wraps an I/O error, for `map_err`: the attempted action and its path.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// True if the user's request was invalid, false if the system failed.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Path(_)
                | Self::TooLarge { .. }
                | Self::NotText { .. }
                | Self::Exists(_)
                | Self::Collides { .. }
                | Self::NotFound(_)
                | Self::Misspelt { .. }
                | Self::NotAMemory(_)
                | Self::OtherProject(_)
                | Self::Ambiguous { .. }
                | Self::Archived(_)
                | Self::NotInInbox(_)
                | Self::NoKind(_)
                | Self::NoIdea(_)
                | Self::NoFolder(_)
                | Self::Decided(_)
                | Self::OddName(_)
                | Self::NoChange(_)
                | Self::Undone(_)
        )
    }

    /// The next step for the user.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => "run `rekindle init`, or point `vault.notes` at your notes".into(),
            Self::Index(_) => {
                "delete the index folder in the state folder and try again; it is rebuilt".into()
            }
            Self::Messages(_) => {
                "check the permissions of the messages folder in the state folder, then try again".into()
            }
            Self::NotAFolder(_) => "move it away, or point `vault.notes` somewhere else".into(),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => "free some space and try again; nothing was changed".into(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "check the permissions; nothing was changed".into()
                }
                _ => "nothing was changed; find the cause with `rekindle doctor`".into(),
            },
            Self::Path(path::Error::Empty { .. }) => "use at least one letter or digit".into(),
            Self::Path(path::Error::Outside { .. }) => "give an id, a slug, or a path below the vault".into(),
            Self::LeadsOutside { .. } => {
                "replace the link by the file, or keep its target in the vault".into()
            }
            Self::TooLarge { .. } => {
                "a memory is a few lines: save the essentials and link to the rest".into()
            }
            Self::NotText { .. } => "convert it to UTF-8 first".into(),
            Self::Document { .. } | Self::Structure { .. } => "fix it by hand; it was not changed".into(),
            Self::Exists(path) => {
                format!("update it with `rekindle evolve {path} --body … --reason …`")
            }
            Self::Collides { .. } => "choose another slug".into(),
            Self::NotAMemory(_) => "edit it by hand; list memories with `rekindle list`".into(),
            Self::OtherProject(_) => "only the user, or an agent in its project, can change it".into(),
            Self::NotFound(_) => "list memories with `rekindle list`".into(),
            Self::Misspelt { alike, .. } => {
                let names: Vec<String> = alike.iter().map(|name| format!("`{name}`")).collect();
                format!("did you mean {}?", names.join(" or "))
            }
            Self::Ambiguous { .. } => "use the id or the full path".into(),
            Self::Changed(_) => "read it with `rekindle show`, then try again".into(),
            Self::Archived(_) => "`rekindle show` on it names the entry that replaced it".into(),
            Self::NotInInbox(_) => "list the inbox with `rekindle inbox`".into(),
            Self::NoKind(_) => "give it one: `rekindle inbox keep … --kind fix`".into(),
            Self::NoIdea(_) | Self::Decided(_) => "list ideas with `rekindle ideas`".into(),
            Self::NoFolder(_) => {
                "add an idea with a folder with `rekindle ideas add`, or edit Ideas.md by hand".into()
            }
            Self::OddName(_) => "rename it, then try again; nothing was changed".into(),
            Self::NoChange(_) | Self::Undone(_) => "list changes with `rekindle log`".into(),
            Self::NotTheAgents(id) => format!("the user can: `rekindle undo {id}`"),
            Self::CannotUndo { .. } => "edit it by hand; nothing was changed".into(),
            Self::Busy(_) => "wait until it finishes, then try again".into(),
            Self::StillThere(_) => {
                "run the same `rekindle forget` again; see what is left with `rekindle doctor`".into()
            }
            Self::NotAFile(_) | Self::NotPermitted(_) | Self::NothingToUndo | Self::Forgotten(_) => {
                return None;
            }
        })
    }
}
