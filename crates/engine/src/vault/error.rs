//! What can go wrong with the vault: what, where, and what to do next. No message holds what a note says.

use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::vault::{frontmatter, path};

/// A problem with the vault. Unless it says otherwise, nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The vault folder is not there.
    #[error("there is no vault at {}", .0.display())]
    Missing(PathBuf),
    /// Something else is where the vault should be.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// The index would not let go of something.
    #[error(transparent)]
    Index(crate::index::Error),
    /// What was said in sessions would not let go of something.
    #[error(transparent)]
    Messages(Box<dyn std::error::Error + Send + Sync>),
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
    /// A name or path that cannot be in the vault.
    #[error(transparent)]
    Path(#[from] path::Error),
    /// A link leads out of the folder it is in.
    #[error("{} leads outside {}", .path.display(), .root.display())]
    LeadsOutside {
        /// The link.
        path: PathBuf,
        /// The folder it must stay in.
        root: PathBuf,
    },
    /// A write outside the vault without a permission.
    #[error("{0} is outside the vault and nobody asked for it to be written")]
    NotPermitted(String),
    /// A folder, pipe or device where a note should be.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// More than a note may hold.
    #[error("{what} is {} KiB; the most that is taken is {} KiB", bytes / 1024, limit / 1024)]
    TooLarge {
        /// The file or argument.
        what: String,
        /// Its size.
        bytes: u64,
        /// What it may have.
        limit: u64,
    },
    /// Bytes that are no text.
    #[error("{what}, line {line}: not UTF-8 text")]
    NotText {
        /// The file or argument.
        what: String,
        /// The first line that cannot be read.
        line: usize,
    },
    /// A document whose properties cannot be read or changed.
    #[error("{path}, {source}")]
    Document {
        /// Which.
        path: String,
        /// What is wrong.
        source: frontmatter::Error,
    },
    /// A document whose structure cannot be read or changed.
    #[error("{path}: {why}")]
    Structure {
        /// Which.
        path: String,
        /// What is wrong, with its line.
        why: String,
    },
    /// The name is taken.
    #[error("{0} exists already")]
    Exists(String),
    /// The name is taken by one that differs only in case.
    #[error("{wanted} and {there} would be one file on systems that ignore case")]
    Collides {
        /// What was asked for.
        wanted: String,
        /// What is there.
        there: String,
    },
    /// No such memory.
    #[error("there is no memory `{0}`")]
    NotFound(String),
    /// No such memory, but some of nearly that name.
    #[error("there is no memory `{wanted}`")]
    Misspelt {
        /// What was asked for.
        wanted: String,
        /// What may have been meant.
        alike: Vec<String>,
    },
    /// A file of the vault that is no memory: a shared document, a log, bookkeeping.
    #[error("{0} is not a memory")]
    NotAMemory(String),
    /// A memory of another project, named by an agent.
    #[error("{0} is not a memory of this project")]
    OtherProject(String),
    /// More than one.
    #[error("`{wanted}` could be any of these:\n{}", .matches.iter().map(|m| format!("  {m}")).collect::<Vec<_>>().join("\n"))]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// What it could be.
        matches: Vec<String>,
    },
    /// Somebody changed the file since it was read.
    #[error("{0} was changed by someone else in the meantime")]
    Changed(String),
    /// An earlier version cannot be evolved.
    #[error("{0} is an archived version; the current one is what can be changed")]
    Archived(String),
    /// A memory that is somewhere else.
    #[error("{0} is not in the inbox")]
    NotInInbox(String),
    /// A note of the inbox that does not say what sort of memory it is.
    #[error("{0} does not say what kind of memory it is")]
    NoKind(String),
    /// No such idea.
    #[error("there is no idea `{0}` in Ideas.md")]
    NoIdea(String),
    /// An idea without a folder in the incubator.
    #[error("the idea `{0}` has no folder in the incubator")]
    NoFolder(String),
    /// An idea that was promoted or put away.
    #[error("the idea `{0}` was promoted or put away already")]
    Decided(String),
    /// A file whose name some systems could not hold.
    #[error("{} has a name that not every system can hold", .0.display())]
    OddName(PathBuf),
    /// No such change.
    #[error("there is no change `{0}` in the journal")]
    NoChange(String),
    /// Nothing to take back.
    #[error("there is nothing to undo")]
    NothingToUndo,
    /// A change that was taken back already.
    #[error("change {0} was undone already")]
    Undone(String),
    /// A change that an agent wants to take back and did not make.
    #[error("an agent cannot take back change {0}: no agent made it")]
    NotTheAgents(String),
    /// A change whose text was forgotten.
    #[error("change {0} cannot be undone: what it held was forgotten")]
    Forgotten(String),
    /// A change that no longer applies backwards.
    #[error("change {change} cannot be undone: {path}: {why}")]
    CannotUndo {
        /// Which change.
        change: String,
        /// Where it fails.
        path: String,
        /// Why.
        why: String,
    },
    /// Another process holds the vault for too long.
    #[error("another rekindle process has been writing for {0} seconds")]
    Busy(u64),
    /// A forgotten text is still somewhere.
    #[error("not everything is gone yet: the text is still in {}", .0.iter().map(|p| p.display().to_string()).collect::<Vec<_>>().join(", "))]
    StillThere(Vec<PathBuf>),
}

impl Error {
    /// For `map_err`: what was being done, and to what.
    pub fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { doing, path, source }
    }

    /// Whether the person asked for something that cannot be, rather than the system failing.
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

    /// What to do next.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => "run `rekindle init`, or point `vault.notes` at your notes".into(),
            Self::Index(_) => {
                "delete the index folder in the state folder and try again; it is made anew".into()
            }
            Self::Messages(_) => {
                "check who may write to the messages folder in the state folder, then try again".into()
            }
            Self::NotAFolder(_) => "move it away, or point `vault.notes` somewhere else".into(),
            Self::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull => "free some space and try again; nothing was changed".into(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "check who may write there; nothing was changed".into()
                }
                _ => "nothing was changed; `rekindle doctor` looks for what is wrong".into(),
            },
            Self::Path(path::Error::Empty { .. }) => "use at least one letter or digit".into(),
            Self::Path(path::Error::Outside { .. }) => "give an id, a slug, or a path below the vault".into(),
            Self::LeadsOutside { .. } => {
                "replace the link by the file, or keep its target in the vault".into()
            }
            Self::TooLarge { .. } => "a memory is a few lines: save what matters and link to the rest".into(),
            Self::NotText { .. } => "convert it to UTF-8 first".into(),
            Self::Document { .. } | Self::Structure { .. } => {
                "correct it by hand; it was left as it is".into()
            }
            Self::Exists(path) => {
                format!("`rekindle evolve {path} --body … --reason …` gives it a new version")
            }
            Self::Collides { .. } => "choose another slug".into(),
            Self::NotAMemory(_) => "edit it by hand; `rekindle list` shows the memories".into(),
            Self::OtherProject(_) => "only the user can change it, or an agent in its project".into(),
            Self::NotFound(_) => "`rekindle list` shows what there is".into(),
            Self::Misspelt { alike, .. } => {
                let names: Vec<String> = alike.iter().map(|name| format!("`{name}`")).collect();
                format!("did you mean {}?", names.join(" or "))
            }
            Self::Ambiguous { .. } => "give the id or the whole path".into(),
            Self::Changed(_) => "look at it with `rekindle show`, then try again".into(),
            Self::Archived(_) => "`rekindle show` on it names the entry that took its place".into(),
            Self::NotInInbox(_) => "`rekindle inbox` shows what waits there".into(),
            Self::NoKind(_) => "say it: `rekindle inbox keep … --kind fix`".into(),
            Self::NoIdea(_) | Self::Decided(_) => "`rekindle ideas` shows what there is".into(),
            Self::NoFolder(_) => {
                "it is yours alone: `rekindle ideas add` makes an idea with a folder, or edit Ideas.md by hand"
                    .into()
            }
            Self::OddName(_) => "rename it, then try again; nothing was changed".into(),
            Self::NoChange(_) | Self::Undone(_) => "`rekindle log` shows the changes".into(),
            Self::NotTheAgents(id) => format!("the user can: `rekindle undo {id}`"),
            Self::CannotUndo { .. } => "it is yours to edit by hand; nothing was changed".into(),
            Self::Busy(_) => "wait for it to end, then try again".into(),
            Self::StillThere(_) => {
                "run the same `rekindle forget` again; `rekindle doctor` shows what is left".into()
            }
            Self::NotAFile(_) | Self::NotPermitted(_) | Self::NothingToUndo | Self::Forgotten(_) => {
                return None;
            }
        })
    }
}
