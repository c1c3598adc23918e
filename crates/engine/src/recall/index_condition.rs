//! Whether the index is as good as it could be: looked at, never waited for and never changed.

use rekindle_core::recall::document::FileStamp;

use super::indexer::{Error, newest_change};
use crate::index::{Error as IndexError, IndexSize, IndexSnapshot, RecallIndex, VectorSpace};
use crate::vault::Vault;
use crate::vault::sources::{self, SourceFile};

/// How the index is.
#[derive(Debug)]
pub enum IndexCondition {
    /// There is none.
    Missing,
    /// It cannot be read, and why.
    Damaged(String),
    /// It can be asked.
    Usable(UsableIndex),
}

/// An index that can be asked, and what it lacks.
#[derive(Debug)]
pub struct UsableIndex {
    /// The index as it was looked at.
    pub snapshot: IndexSnapshot,
    /// How much is there.
    pub size: IndexSize,
    /// The model its vectors are of.
    pub model: String,
    /// Whether changes of ours are not in it yet.
    pub behind: bool,
    /// Whether its vectors are of another model than the one in use.
    pub other_model: bool,
    /// Files that are new, gone or changed since it read them.
    pub changed: usize,
}

impl UsableIndex {
    /// What a person calls it: the first thing that is missing, or that nothing is.
    pub fn word(&self) -> &'static str {
        match self {
            Self { other_model: true, .. } => "other-model",
            Self { behind: true, .. } => "behind",
            Self { changed: 1.., .. } => "behind",
            Self { size: IndexSize { pending: 1.., .. }, .. } => "pending",
            _ => "current",
        }
    }
}

/// Looks at the index. `space` is that of the model in use, if it can be used.
pub fn look(
    vault: &Vault,
    index: &RecallIndex,
    space: Option<&VectorSpace>,
) -> Result<IndexCondition, Error> {
    let snapshot = match index.open() {
        Ok(Some(snapshot)) => snapshot,
        Ok(None) => return Ok(IndexCondition::Missing),
        Err(error @ IndexError::Damaged { .. }) => return Ok(IndexCondition::Damaged(error.to_string())),
        Err(error) => return Err(error.into()),
    };
    let behind = newest_change(vault)?.as_ref() != snapshot.seen() || snapshot.is_torn();
    Ok(IndexCondition::Usable(UsableIndex {
        size: snapshot.size(),
        model: snapshot.space().model,
        behind,
        other_model: space.is_some_and(|space| !snapshot.is_of(space)),
        changed: changed(vault, &snapshot)?,
        snapshot,
    }))
}

/// How many files are not as the index knows them. A file that was only touched is the same.
fn changed(vault: &Vault, snapshot: &IndexSnapshot) -> Result<usize, Error> {
    let listed = sources::list(vault)?;
    let mut known = snapshot.stamps();
    let is_same = |file: &SourceFile, stamp: &FileStamp| {
        (stamp.modified, stamp.size) == (file.modified, file.size)
            || sources::is_unchanged(vault, &file.path, stamp)
    };
    let mut changed = 0;
    for file in &listed.files {
        let stamp = known.remove(file.path.as_str());
        changed += usize::from(!stamp.is_some_and(|stamp| is_same(file, &stamp)));
    }
    Ok(changed + known.len())
}
