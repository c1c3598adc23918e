//! Checks the condition of the index, without waiting for it or changing it.

use rekindle_core::recall::document::FileStamp;

use super::indexer::{Error, newest_change};
use crate::index::{Error as IndexError, IndexSize, IndexSnapshot, RecallIndex, VectorSpace};
use crate::vault::Vault;
use crate::vault::sources::{self, SourceFile};

/// The condition of the index.
#[derive(Debug)]
pub enum IndexCondition {
    /// There is no index.
    Missing,
    /// The index is unreadable, for this reason.
    Damaged(String),
    /// The index is usable.
    Usable(UsableIndex),
}

/// A usable index, and its deficiencies.
#[derive(Debug)]
pub struct UsableIndex {
    /// The snapshot that was checked.
    pub snapshot: IndexSnapshot,
    /// The size of the index.
    pub size: IndexSize,
    /// The id of the model of its vectors.
    pub model: String,
    /// True if it does not include our latest changes.
    pub behind: bool,
    /// True if its vectors are from another model than the current one.
    pub other_model: bool,
    /// The number of files that are new, deleted or changed since it was updated.
    pub changed: usize,
}

impl UsableIndex {
    /// The word for its condition: the first deficiency, or that it is current.
    pub fn label(&self) -> &'static str {
        match self {
            Self { other_model: true, .. } => "other-model",
            Self { behind: true, .. } => "behind",
            Self { changed: 1.., .. } => "behind",
            Self { size: IndexSize { pending: 1.., .. }, .. } => "pending",
            _ => "current",
        }
    }
}

/// Checks the index. `space` is that of the current model, if it can be loaded.
pub fn index_condition(
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
    let behind = newest_change(vault)?.as_ref() != snapshot.last_seen_change() || snapshot.is_torn();
    Ok(IndexCondition::Usable(UsableIndex {
        size: snapshot.size(),
        model: snapshot.space().model,
        behind,
        other_model: space.is_some_and(|space| !snapshot.is_from_model(space)),
        changed: count_changed_files(vault, &snapshot)?,
        snapshot,
    }))
}

/// The number of files that differ from the index. A file with a new time but the same content does not
/// differ.
fn count_changed_files(vault: &Vault, snapshot: &IndexSnapshot) -> Result<usize, Error> {
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
