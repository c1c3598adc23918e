//! Undoes a change, as a change of its own.

use std::collections::HashSet;

use rekindle_core::base::id::ChangeId;
use rekindle_core::base::time::Zoned;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile, FileOperation, VaultChange};

use super::journal::ChangeOutcome;
use super::{ChangeDraft, CommittedChange, Error, FileWrite, Vault};
use crate::platform::disk;

/// The result of an undo.
#[derive(Clone, Debug)]
pub struct UndoneChange {
    /// The change that was undone.
    pub change: VaultChange,
    /// The change that undid it.
    pub by: CommittedChange,
}

impl Vault {
    /// Undoes the change that `reference` names, or the newest that is not undone and is neither an undo nor
    /// the set-up. Undoing an undo repeats the change. An agent can undo only changes of agents: all others
    /// come from the user's words or decisions.
    pub fn undo(&self, reference: Option<&str>, by: ChangeActor, now: &Zoned) -> Result<UndoneChange, Error> {
        let mut writer = self.writer(now)?;
        let change = self.undoable(reference)?;
        if by == ChangeActor::Agent && change.by != ChangeActor::Agent {
            return Err(Error::NotTheAgents(change.id.short_id().to_owned()));
        }
        if !change.ops.iter().all(FileOperation::can_be_undone) {
            return Err(Error::Forgotten(change.id.to_string()));
        }
        let writes =
            change.ops.iter().rev().map(|op| self.reverse(&change, op)).collect::<Result<Vec<_>, _>>()?;
        let draft = ChangeDraft {
            verb: "undo",
            by,
            permission: change.permission,
            undoes: Some(change.id.clone()),
            proposal: None,
            writes,
        };
        let committed = writer.commit(draft)?;
        Ok(UndoneChange { change, by: committed })
    }

    fn undoable(&self, reference: Option<&str>) -> Result<VaultChange, Error> {
        let mut undone: HashSet<ChangeId> = HashSet::new();
        for record in self.changes()? {
            let record = record?;
            if record.outcome == ChangeOutcome::Aborted {
                continue;
            }
            let change = record.change;
            let wanted = match reference {
                Some(reference) => change.id.matches(reference),
                None => {
                    // The page of proposals and the receipts are derived; they are updated after the undo.
                    let by_itself =
                        !["init", "forget"].contains(&change.verb.as_str()) && !change.is_bookkeeping();
                    by_itself && change.undoes.is_none() && !undone.contains(&change.id)
                }
            };
            if wanted && undone.contains(&change.id) {
                return Err(Error::Undone(change.id.to_string()));
            }
            if wanted {
                return Ok(change);
            }
            // An undo that was itself undone no longer counts.
            if let Some(target) = change.undoes
                && !undone.contains(&change.id)
            {
                undone.insert(target);
            }
        }
        Err(reference.map_or(Error::NothingToUndo, |reference| Error::NoChange(reference.to_owned())))
    }

    fn reverse(&self, change: &VaultChange, op: &FileOperation) -> Result<FileWrite, Error> {
        let cannot = |place: &ChangedFile, why: &str| Error::CannotUndo {
            change: change.id.to_string(),
            path: place.to_string(),
            why: why.to_owned(),
        };
        let there =
            |place: &ChangedFile| self.read(place)?.ok_or_else(|| cannot(place, "it no longer exists"));
        match op {
            FileOperation::Create { place, after } => {
                let read = there(place)?;
                match read.hash == *after {
                    true => Ok(FileWrite::Remove { place: place.clone(), read }),
                    false => Err(cannot(place, "it was changed since")),
                }
            }
            FileOperation::Edit { place, patch: Some(patch), .. }
            | FileOperation::Append { place, patch: Some(patch), .. } => {
                let read = there(place)?;
                let text = patch.reverse(&read.text).map_err(|error| cannot(place, &error.to_string()))?;
                Ok(FileWrite::Replace { place: place.clone(), read, text })
            }
            FileOperation::Remove { place, text: Some(text), .. } => match self.read(place)? {
                Some(_) => Err(cannot(place, "another file now has its name")),
                None => Ok(FileWrite::Create { place: place.clone(), text: text.clone() }),
            },
            // The move is reversed; later edits of the file stay in it.
            FileOperation::Move { place, from, .. } => {
                let file = self.file(place)?;
                let hash = disk::hash(&file).map_err(Error::io("read", &file))?;
                let hash = hash.ok_or_else(|| cannot(place, "it no longer exists"))?;
                let old = self.file(from)?;
                match disk::name_exists(&old).map_err(Error::io("read", &old))? {
                    true => Err(cannot(from, "another file now has its name")),
                    false => Ok(FileWrite::Move { from: place.clone(), to: from.clone(), hash }),
                }
            }
            FileOperation::Edit { .. }
            | FileOperation::Append { .. }
            | FileOperation::Remove { .. }
            | FileOperation::Forgotten => Err(Error::Forgotten(change.id.to_string())),
        }
    }
}
