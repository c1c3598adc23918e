//! Atomic changes to one or several notes.
//!
//! 1. every new text is staged beside its target and synced
//! 2. the change is written to the journal and synced: from here on it will happen
//! 3. the staged files replace their targets; the old files come out and are checked
//! 4. the folders are synced, the old files are removed, the journal records the end
//!
//! After a kill before step 2 nothing has happened; after it, the next writer finishes (`recover`). If the
//! file that comes out in step 3 differs from the one read, somebody edited it: it is kept beside the note as
//! a conflict copy and reported (B-09).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::{Zoned, format_utc};
use rekindle_core::vault::journal::{
    ChangeActor, ChangeRoot, ChangedFile, FileOperation, RangePatch, VaultChange, WritePermission,
};
use rekindle_core::vault::layout;

use super::journal::{ChangeOutcome, VaultJournal};
use super::lock::{InFlightChange, VaultLock};
use super::logs::LogEnd;
use super::{Error, NoteText, Vault, path_guard};
use crate::platform::disk;
use crate::platform::random;

/// The operation on one file.
#[derive(Clone, Debug)]
pub enum FileWrite {
    /// Creates a note that does not exist.
    Create {
        /// The place of the new note.
        place: ChangedFile,
        /// The text of the new note.
        text: String,
    },
    /// Replaces an existing note.
    Replace {
        /// The place of the note.
        place: ChangedFile,
        /// The note as it was read.
        read: NoteText,
        /// The new text of the note.
        text: String,
    },
    /// Appends to an existing log, in place.
    Append {
        /// The place of the log.
        place: ChangedFile,
        /// The end of the log as it was read.
        end: LogEnd,
        /// The text to append.
        text: String,
    },
    /// Removes an existing note.
    Remove {
        /// The place of the note.
        place: ChangedFile,
        /// The note as it was read.
        read: NoteText,
    },
    /// Moves a file of any type and size inside the vault.
    Move {
        /// The current place of the file.
        from: ChangedFile,
        /// The new place of the file.
        to: ChangedFile,
        /// The hash of the file.
        hash: ContentHash,
    },
    /// Writes only a line to the journal: a text is being forgotten elsewhere.
    Forget,
}

impl FileWrite {
    /// Replaces a note that was read, or creates one that did not exist.
    pub fn create_or_replace(place: ChangedFile, read: Option<NoteText>, text: String) -> Self {
        match read {
            Some(read) => Self::Replace { place, read, text },
            None => Self::Create { place, text },
        }
    }

    fn place(&self) -> Option<&ChangedFile> {
        match self {
            Self::Create { place, .. }
            | Self::Replace { place, .. }
            | Self::Append { place, .. }
            | Self::Remove { place, .. } => Some(place),
            Self::Move { to, .. } => Some(to),
            Self::Forget => None,
        }
    }

    fn op(&self) -> FileOperation {
        match self {
            Self::Create { place, text } => {
                FileOperation::Create { place: place.clone(), after: ContentHash::of_bytes(text.as_bytes()) }
            }
            Self::Replace { place, read, text } => FileOperation::Edit {
                place: place.clone(),
                before: read.hash,
                after: ContentHash::of_bytes(text.as_bytes()),
                patch: Some(RangePatch::from_texts(&read.text, text)),
            },
            Self::Append { place, end, text } => FileOperation::Append {
                place: place.clone(),
                before: end.hash,
                size: end.identity.size,
                after: end.hash_with(text),
                patch: Some(end.patch(text)),
            },
            Self::Remove { place, read } => FileOperation::Remove {
                place: place.clone(),
                before: read.hash,
                text: Some(read.text.clone()),
            },
            Self::Move { from, to, hash } => {
                FileOperation::Move { place: to.clone(), from: from.clone(), before: *hash }
            }
            Self::Forget => FileOperation::Forgotten,
        }
    }
}

/// A change to be made.
#[derive(Clone, Debug)]
pub struct ChangeDraft {
    /// The verb of the command.
    pub verb: &'static str,
    /// The actor who makes the change.
    pub by: ChangeActor,
    /// The permission to write outside the vault, if needed.
    pub permission: Option<WritePermission>,
    /// The id of the change that it undoes.
    pub undoes: Option<ChangeId>,
    /// The proposal that it carries out.
    pub proposal: Option<String>,
    /// The operations, in order.
    pub writes: Vec<FileWrite>,
}

impl ChangeDraft {
    /// A change inside the vault.
    pub fn new(verb: &'static str, by: ChangeActor, writes: Vec<FileWrite>) -> Self {
        Self { verb, by, permission: None, undoes: None, proposal: None, writes }
    }
}

/// A change that was committed.
#[derive(Clone, Debug)]
pub struct CommittedChange {
    /// The id; `None` if there was nothing to change.
    pub change: Option<ChangeId>,
    /// The conflict copies of concurrent edits.
    pub conflicts: Vec<PathBuf>,
}

/// The holder of the lock: only it may change the vault.
#[derive(Debug)]
pub struct VaultWriter<'a> {
    pub(crate) vault: &'a Vault,
    pub(super) lock: VaultLock,
    pub(crate) journal: VaultJournal,
    pub(crate) now: Zoned,
}

/// One operation with its files.
pub(super) struct CommitStep {
    pub(super) op: FileOperation,
    pub(super) place: ChangedFile,
    pub(super) target: PathBuf,
    /// The path where the new text waits and the old one comes out. For a move it is the old place.
    pub(super) staged: PathBuf,
}

/// The outcome of a durable change.
pub(super) struct SettledCommit {
    pub(super) conflicts: Vec<PathBuf>,
    /// True if no temporary file remains.
    pub(super) is_clean: bool,
}

impl Vault {
    /// Waits for the lock and finishes the work of a killed writer.
    pub fn writer(&self, now: &Zoned) -> Result<VaultWriter<'_>, Error> {
        let lock = VaultLock::acquire(&self.places.locks_folder())?;
        let journal = VaultJournal::open(&self.places.journal_file())?;
        let mut writer = VaultWriter { vault: self, lock, journal, now: now.clone() };
        writer.recover_interrupted()?;
        Ok(writer)
    }

    pub(super) fn steps(&self, change: &VaultChange) -> Result<Vec<CommitStep>, Error> {
        let staged_name = |number: usize| format!("{}{}-{number}.tmp", disk::TEMPORARY_PREFIX, change.id);
        change
            .ops
            .iter()
            .enumerate()
            .filter_map(|(number, op)| Some((number, op, op.changed_file()?.clone())))
            .map(|(number, op, place)| {
                let target = self.file(&place)?;
                let staged = match op {
                    FileOperation::Move { from, .. } => self.file(from)?,
                    _ => target.with_file_name(staged_name(number)),
                };
                Ok(CommitStep { op: op.clone(), place, target, staged })
            })
            .collect()
    }
}

impl VaultWriter<'_> {
    /// Commits a change. After an error nothing of it has happened.
    pub fn commit(&mut self, draft: ChangeDraft) -> Result<CommittedChange, Error> {
        let ChangeDraft { verb, by, permission, undoes, proposal: about, writes } = draft;
        let writes: Vec<FileWrite> = writes.into_iter().filter(changes_something).collect();
        if writes.is_empty() {
            return Ok(CommittedChange { change: None, conflicts: Vec::new() });
        }
        for write in &writes {
            self.check(write, permission)?;
        }
        let at = self.now.timestamp();
        let id =
            random::change_id(at).map_err(Error::io("get random bytes for", self.vault.places.state()))?;
        let ops = writes.iter().map(FileWrite::op).collect();
        let change =
            VaultChange { id, at: format_utc(at), verb: verb.to_owned(), by, permission, undoes, about, ops };
        let steps = self.vault.steps(&change)?;

        let temporaries = steps.iter().filter_map(CommitStep::temporary_file).map(Path::to_owned).collect();
        self.lock.record_in_flight(&InFlightChange { change: change.id.clone(), temporaries })?;
        if let Err(error) = stage_all(&steps, &writes).and_then(|()| self.journal.begin(&change)) {
            for temporary in steps.iter().filter_map(CommitStep::temporary_file) {
                disk::remove(temporary)
                    .ignore_failure("the lock announces left-over files, and the next writer removes them");
            }
            return Err(error);
        }
        if let Err(error) = apply_all(&steps) {
            // If the roll-back failed too, the next writer finds the change begun and finishes it.
            if !steps.iter().any(CommitStep::is_torn) {
                self.close(&change.id, ChangeOutcome::Aborted);
            }
            return Err(error);
        }
        let settled = self.make_durable(&steps)?;
        if settled.is_clean {
            self.close(&change.id, ChangeOutcome::Done);
        }
        Ok(CommittedChange { change: Some(change.id), conflicts: settled.conflicts })
    }

    /// Records the end of a change, if possible.
    fn close(&mut self, id: &ChangeId, outcome: ChangeOutcome) {
        self.journal
            .end(id, outcome)
            .and_then(|()| self.lock.clear())
            .ignore_failure("the next writer detects the end without the record");
    }

    /// Checks that a write is allowed, before anything is touched.
    fn check(&self, write: &FileWrite, permission: Option<WritePermission>) -> Result<(), Error> {
        let Some(place) = write.place() else { return Ok(()) };
        let standing = place.root == ChangeRoot::Notes && place.path.as_str() == layout::IDEAS;
        match (place.root, permission) {
            (ChangeRoot::Vault, _) | (_, Some(WritePermission::Asked)) => {}
            (_, Some(WritePermission::Standing)) if standing => {}
            _ => return Err(Error::NotPermitted(place.to_string())),
        }
        let target = self.vault.file(place)?;
        if let FileWrite::Append { end, .. } = write {
            // Our own writers wait for the lock; writes of others change the metadata.
            let now = std::fs::metadata(&target).map_err(Error::io("read", &target))?;
            return match disk::FileIdentity::from_metadata(&now) == end.identity {
                true => Ok(()),
                false => Err(Error::Changed(place.to_string())),
            };
        }
        let there = disk::hash(&target).map_err(Error::io("read", &target))?;
        match write {
            FileWrite::Create { .. } | FileWrite::Move { .. } => {
                if there.is_some() || disk::name_exists(&target).map_err(Error::io("read", &target))? {
                    return Err(Error::Exists(place.to_string()));
                }
                if let Some(there) = path_guard::case_collision(&target) {
                    return Err(Error::Collides { wanted: place.path.name().to_owned(), there });
                }
            }
            FileWrite::Replace { read, .. } | FileWrite::Remove { read, .. } => {
                if there != Some(read.hash) {
                    return Err(Error::Changed(place.to_string()));
                }
            }
            FileWrite::Append { .. } | FileWrite::Forget => {}
        }
        if let FileWrite::Move { from, hash, .. } = write {
            if from.root != ChangeRoot::Vault || place.root != ChangeRoot::Vault {
                return Err(Error::NotPermitted(from.to_string()));
            }
            let source = self.vault.file(from)?;
            if disk::hash(&source).map_err(Error::io("read", &source))? != Some(*hash) {
                return Err(Error::Changed(from.to_string()));
            }
        }
        Ok(())
    }

    /// Checks the files that came out, makes the new names durable, and removes temporary files.
    pub(super) fn make_durable(&self, steps: &[CommitStep]) -> Result<SettledCommit, Error> {
        let (mut conflicts, mut is_clean) = (Vec::new(), true);
        for step in steps {
            conflicts.extend(self.keep_foreign(step)?);
        }
        for folder in folders(steps) {
            match disk::sync_folder(folder) {
                // The folder was emptied by a change that is being finished, and removed.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                synced => synced.map_err(Error::io("sync", folder))?,
            }
        }
        for step in steps {
            // Check again just before the removal: an editor that had the old file open may have written to
            // it.
            conflicts.extend(self.keep_foreign(step)?);
            // The change is durable; an old version that cannot be removed now is left to the next writer.
            is_clean &= step.temporary_file().is_none_or(|temporary| disk::remove(temporary).is_ok());
        }
        Ok(SettledCommit { conflicts, is_clean })
    }

    /// Keeps a user's edit: if the file under the temporary name is neither the old nor the new text, it
    /// becomes a conflict copy beside the note.
    fn keep_foreign(&self, step: &CommitStep) -> Result<Option<PathBuf>, Error> {
        let Some(temporary) = step.temporary_file() else { return Ok(None) };
        let Some(out) = disk::hash(temporary).map_err(Error::io("read", temporary))? else {
            return Ok(None);
        };
        let ours = match &step.op {
            FileOperation::Create { after, .. } => out == *after,
            FileOperation::Edit { before, after, .. } => out == *before || out == *after,
            FileOperation::Remove { before, .. } => out == *before,
            FileOperation::Append { .. } | FileOperation::Move { .. } | FileOperation::Forgotten => true,
        };
        if ours {
            return Ok(None);
        }
        let stamp = self.now.strftime("%Y%m%d-%H%M%S").to_string();
        for number in 1.. {
            let stamp = if number == 1 { stamp.clone() } else { format!("{stamp}-{number}") };
            let name = layout::conflict_copy(&step.place.path, &stamp)?;
            let copy = step.target.with_file_name(name.name());
            match disk::publish(&step.staged, &copy) {
                Ok(()) => return Ok(Some(copy)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::io("keep", &copy)(error)),
            }
        }
        Ok(None)
    }
}

fn changes_something(write: &FileWrite) -> bool {
    !matches!(write, FileWrite::Replace { read, text, .. } if read.text == *text)
}

fn stage_all(steps: &[CommitStep], writes: &[FileWrite]) -> Result<(), Error> {
    let on_files = writes.iter().filter(|write| write.place().is_some());
    for (step, write) in steps.iter().zip(on_files) {
        if let Some(folder) = step.target.parent() {
            disk::create_private_folder(folder).map_err(Error::io("make", folder))?;
        }
        let staged = match write {
            FileWrite::Create { text, .. } => disk::stage_file(&step.staged, text.as_bytes(), None),
            FileWrite::Replace { text, .. } => {
                disk::stage_file(&step.staged, text.as_bytes(), Some(&step.target))
            }
            FileWrite::Append { .. }
            | FileWrite::Remove { .. }
            | FileWrite::Move { .. }
            | FileWrite::Forget => Ok(()),
        };
        staged.map_err(Error::io("write", &step.target))?;
    }
    Ok(())
}

/// Applies all steps (step 3). On an error it rolls back those already applied.
fn apply_all(steps: &[CommitStep]) -> Result<(), Error> {
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = step.apply() {
            for done in steps[..number].iter().rev() {
                done.revert()?;
            }
            for temporary in steps.iter().filter_map(CommitStep::temporary_file) {
                disk::remove(temporary).map_err(Error::io("remove", temporary))?;
            }
            return Err(error);
        }
    }
    Ok(())
}

impl CommitStep {
    /// The temporary file, which is removed after the change; `None` for a move or an append, which have
    /// none.
    pub(super) fn temporary_file(&self) -> Option<&Path> {
        (!matches!(self.op, FileOperation::Move { .. } | FileOperation::Append { .. }))
            .then_some(&self.staged)
    }

    /// True if a part of an append was written.
    fn is_torn(&self) -> bool {
        match &self.op {
            FileOperation::Append { size, patch: Some(patch), .. } => {
                let there = disk::verify_appended(&self.target, *size, patch.inserted().as_bytes());
                there.ok().flatten().is_some_and(|there| there > 0)
            }
            _ => false,
        }
    }

    pub(super) fn apply(&self) -> Result<(), Error> {
        let applied = match &self.op {
            FileOperation::Create { .. } | FileOperation::Move { .. } => {
                disk::publish(&self.staged, &self.target)
            }
            FileOperation::Edit { .. } => disk::swap_files(&self.staged, &self.target),
            FileOperation::Append { size, patch: Some(patch), .. } => {
                disk::append(&self.target, *size, patch.inserted().as_bytes())
            }
            FileOperation::Remove { .. } => disk::publish(&self.target, &self.staged),
            FileOperation::Append { patch: None, .. } | FileOperation::Forgotten => Ok(()),
        };
        applied.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists(self.place.to_string()),
            io::ErrorKind::InvalidData if matches!(self.op, FileOperation::Append { .. }) => {
                Error::Changed(self.place.to_string())
            }
            _ => Error::io("write", &self.target)(error),
        })
    }

    /// Reverses [`CommitStep::apply`], while the temporary file still exists.
    pub(super) fn revert(&self) -> Result<(), Error> {
        let taken = match &self.op {
            FileOperation::Create { .. } | FileOperation::Move { .. } => {
                disk::publish(&self.target, &self.staged)
            }
            FileOperation::Remove { .. } => disk::publish(&self.staged, &self.target),
            FileOperation::Edit { .. } => disk::swap_files(&self.staged, &self.target),
            FileOperation::Append { size, patch: Some(patch), .. } => {
                disk::undo_append(&self.target, *size, patch.inserted().as_bytes())
            }
            FileOperation::Append { patch: None, .. } | FileOperation::Forgotten => Ok(()),
        };
        taken.map_err(Error::io("restore", &self.target))
    }
}

/// The folders whose names changed.
fn folders(steps: &[CommitStep]) -> BTreeSet<&Path> {
    let named = steps.iter().filter(|step| !matches!(step.op, FileOperation::Append { .. }));
    named.flat_map(|step| [step.target.parent(), step.staged.parent()]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use rekindle_core::base::time::TimeZone;
    use rekindle_core::vault::path::VaultPath;

    use super::*;
    use crate::test_notes::paths_in;

    fn vault(root: &Path) -> Vault {
        let places = paths_in(root);
        for folder in [places.vault(), places.identity(), places.state()] {
            disk::create_private_folder(folder).unwrap();
        }
        Vault::open(&places).unwrap()
    }

    fn now() -> Zoned {
        "2026-11-15T02:13:08Z"
            .parse::<rekindle_core::base::time::Timestamp>()
            .unwrap()
            .to_zoned(TimeZone::UTC)
    }

    fn create(root: ChangeRoot, path: &str, permission: Option<WritePermission>) -> ChangeDraft {
        let place = ChangedFile { root, path: VaultPath::parse(path).unwrap() };
        let writes = vec![FileWrite::Create { place, text: "x\n".to_owned() }];
        ChangeDraft { permission, ..ChangeDraft::new("test", ChangeActor::Worker, writes) }
    }

    #[test]
    fn vlt_07_nothing_outside_the_vault_without_a_recorded_permission() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let mut writer = vault.writer(&now()).unwrap();
        let mut refused = |draft: ChangeDraft| matches!(writer.commit(draft), Err(Error::NotPermitted(_)));
        assert!(refused(create(ChangeRoot::Notes, "Ideas.md", None)));
        assert!(refused(create(ChangeRoot::Notes, "Diary.md", Some(WritePermission::Standing))));
        assert!(refused(create(ChangeRoot::Identity, "SOUL.md", Some(WritePermission::Standing))));
        assert!(!refused(create(ChangeRoot::Notes, "Ideas.md", Some(WritePermission::Standing))));
        assert!(!refused(create(ChangeRoot::Vault, "a.md", None)));
        let permissions: Vec<_> =
            vault.changes().unwrap().map(|record| record.unwrap().change.permission).collect();
        assert_eq!(permissions, [None, Some(WritePermission::Standing)]);
    }

    #[test]
    fn b_09_what_was_changed_since_it_was_read_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let mut writer = vault.writer(&now()).unwrap();
        writer.commit(create(ChangeRoot::Vault, "a.md", None)).unwrap();
        let place = ChangedFile::vault(VaultPath::parse("a.md").unwrap());
        let read = vault.read(&place).unwrap().unwrap();
        disk::write_atomic(&vault.file(&place).unwrap(), b"by hand").unwrap();
        let write = FileWrite::Replace { place: place.clone(), read, text: "ours".to_owned() };
        let refused = writer.commit(ChangeDraft::new("test", ChangeActor::User, vec![write]));
        assert!(matches!(refused, Err(Error::Changed(_))));
        assert_eq!(vault.read(&place).unwrap().unwrap().text, "by hand");
    }

    /// Simulates an edit between the last check and the exchange.
    #[test]
    fn b_09_an_edit_in_the_last_instant_becomes_a_conflict_copy() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let mut writer = vault.writer(&now()).unwrap();
        writer.commit(create(ChangeRoot::Vault, "a.md", None)).unwrap();
        let place = ChangedFile::vault(VaultPath::parse("a.md").unwrap());
        let (target, old) = (vault.file(&place).unwrap(), vault.read(&place).unwrap().unwrap());
        let staged = target.with_file_name(".rekindle-test.tmp");
        disk::stage_file(&staged, b"ours", None).unwrap();
        disk::write_atomic(&target, b"theirs").unwrap();
        let op = FileWrite::Replace { place: place.clone(), read: old, text: "ours".to_owned() }.op();
        let step = CommitStep { op, place: place.clone(), target, staged };
        step.apply().unwrap();
        let settled = writer.make_durable(&[step]).unwrap();
        assert_eq!(vault.read(&place).unwrap().unwrap().text, "ours");
        let [copy] = settled.conflicts.as_slice() else { panic!("{:?}", settled.conflicts) };
        assert!(copy.ends_with("a (conflict 20261115-021308).md"));
        assert_eq!(std::fs::read_to_string(copy).unwrap(), "theirs");
    }
}
