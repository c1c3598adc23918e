//! How a change to one or several notes becomes all of it or none of it.
//!
//! 1. every new text is staged beside its target and synced
//! 2. the change is written to the journal and synced: from here on it will happen
//! 3. the staged files take their targets' places; what was there comes out and is looked at
//! 4. the folders are synced, what came out is removed, the journal says it is done
//!
//! Killed before 2, nothing has happened; after it, the next writer finishes (`recover`). What comes out in 3 and is
//! not what was read is somebody's edit: it is kept beside the note as a conflict copy and reported (B-09).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::id::ChangeId;
use rekindle_core::base::time::{Zoned, iso};
use rekindle_core::vault::journal::{Actor, Change, Op, Patch, Permission, Place, Root};
use rekindle_core::vault::layout;

use super::journal::{Journal, Outcome};
use super::lock::{InFlight, Lock};
use super::logs::End;
use super::{Error, NoteText, Vault, door};
use crate::platform::disk;
use crate::platform::random;

/// What should happen to one file.
#[derive(Clone, Debug)]
pub enum Write {
    /// A new note.
    Create {
        /// Where.
        place: Place,
        /// Its text.
        text: String,
    },
    /// A note that is there, as it was read.
    Replace {
        /// Where.
        place: Place,
        /// What was read.
        read: NoteText,
        /// Its new text.
        text: String,
    },
    /// A log that is there and grows at its end, in its place.
    Append {
        /// Where.
        place: Place,
        /// How it was found.
        end: End,
        /// What comes behind it.
        text: String,
    },
    /// A note that should be gone, as it was read.
    Remove {
        /// Where.
        place: Place,
        /// What was read.
        read: NoteText,
    },
    /// A file of the vault that gets another place there, whatever it is and however large.
    Move {
        /// Where it is.
        from: Place,
        /// Where it goes.
        to: Place,
        /// What it is.
        hash: ContentHash,
    },
    /// Only a line in the journal: something is being forgotten elsewhere.
    Forget,
}

impl Write {
    /// Replaces what was read, or creates what was not there.
    pub fn put(place: Place, read: Option<NoteText>, text: String) -> Self {
        match read {
            Some(read) => Self::Replace { place, read, text },
            None => Self::Create { place, text },
        }
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::Create { place, .. }
            | Self::Replace { place, .. }
            | Self::Append { place, .. }
            | Self::Remove { place, .. } => Some(place),
            Self::Move { to, .. } => Some(to),
            Self::Forget => None,
        }
    }

    fn op(&self) -> Op {
        match self {
            Self::Create { place, text } => {
                Op::Create { place: place.clone(), after: ContentHash::of(text.as_bytes()) }
            }
            Self::Replace { place, read, text } => Op::Edit {
                place: place.clone(),
                before: read.hash,
                after: ContentHash::of(text.as_bytes()),
                patch: Some(Patch::between(&read.text, text)),
            },
            Self::Append { place, end, text } => Op::Append {
                place: place.clone(),
                before: end.hash,
                size: end.identity.size,
                after: end.hash_with(text),
                patch: Some(end.patch(text)),
            },
            Self::Remove { place, read } => {
                Op::Remove { place: place.clone(), before: read.hash, text: Some(read.text.clone()) }
            }
            Self::Move { from, to, hash } => {
                Op::Move { place: to.clone(), from: from.clone(), before: *hash }
            }
            Self::Forget => Op::Forgotten,
        }
    }
}

/// A change that is about to be made.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The command.
    pub verb: &'static str,
    /// Who gives it.
    pub by: Actor,
    /// Why it may write outside the vault, if it does.
    pub permission: Option<Permission>,
    /// The change it takes back.
    pub undoes: Option<ChangeId>,
    /// The proposal that it carries out.
    pub about: Option<String>,
    /// What should happen, in order.
    pub writes: Vec<Write>,
}

impl Draft {
    /// A change inside the vault.
    pub fn new(verb: &'static str, by: Actor, writes: Vec<Write>) -> Self {
        Self { verb, by, permission: None, undoes: None, about: None, writes }
    }
}

/// A change that was made.
#[derive(Clone, Debug)]
pub struct Committed {
    /// Its id; `None` if there was nothing to change.
    pub change: Option<ChangeId>,
    /// Somebody's edits that came in between and are kept here.
    pub conflicts: Vec<PathBuf>,
}

/// The holder of the lock: the only one that may change the vault now.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(crate) vault: &'a Vault,
    pub(super) lock: Lock,
    pub(crate) journal: Journal,
    pub(crate) now: Zoned,
}

/// One operation with the files it works on.
pub(super) struct Step {
    pub(super) op: Op,
    pub(super) place: Place,
    pub(super) target: PathBuf,
    /// Where the new text waits and the old one comes out. A file that is moved waits at the place where it was.
    pub(super) staged: PathBuf,
}

/// What was left when a change was durable.
pub(super) struct Settled {
    pub(super) conflicts: Vec<PathBuf>,
    /// Whether no temporary file is left.
    pub(super) is_clean: bool,
}

impl Vault {
    /// Waits for the lock and finishes what a killed writer left undone.
    pub fn writer(&self, now: &Zoned) -> Result<Writer<'_>, Error> {
        let lock = Lock::take(&self.places.locks())?;
        let journal = Journal::open(&self.places.journal())?;
        let mut writer = Writer { vault: self, lock, journal, now: now.clone() };
        writer.recover()?;
        Ok(writer)
    }

    pub(super) fn steps(&self, change: &Change) -> Result<Vec<Step>, Error> {
        let staged_name = |number: usize| format!("{}{}-{number}.tmp", disk::TEMPORARY, change.id);
        change
            .ops
            .iter()
            .enumerate()
            .filter_map(|(number, op)| Some((number, op, op.place()?.clone())))
            .map(|(number, op, place)| {
                let target = self.file(&place)?;
                let staged = match op {
                    Op::Move { from, .. } => self.file(from)?,
                    _ => target.with_file_name(staged_name(number)),
                };
                Ok(Step { op: op.clone(), place, target, staged })
            })
            .collect()
    }
}

impl Writer<'_> {
    /// Makes a change. An error means that nothing of it happened.
    pub fn commit(&mut self, draft: Draft) -> Result<Committed, Error> {
        let Draft { verb, by, permission, undoes, about, writes } = draft;
        let writes: Vec<Write> = writes.into_iter().filter(changes_something).collect();
        if writes.is_empty() {
            return Ok(Committed { change: None, conflicts: Vec::new() });
        }
        for write in &writes {
            self.check(write, permission)?;
        }
        let at = self.now.timestamp();
        let id =
            random::change_id(at).map_err(Error::io("get random bytes for", self.vault.places.state()))?;
        let ops = writes.iter().map(Write::op).collect();
        let change = Change { id, at: iso(at), verb: verb.to_owned(), by, permission, undoes, about, ops };
        let steps = self.vault.steps(&change)?;

        let temporaries = steps.iter().filter_map(Step::temporary).map(Path::to_owned).collect();
        self.lock.announce(&InFlight { change: change.id.clone(), temporaries })?;
        if let Err(error) = stage_all(&steps, &writes).and_then(|()| self.journal.begin(&change)) {
            // Best effort: what cannot be removed now is announced in the lock and goes with the next writer.
            for temporary in steps.iter().filter_map(Step::temporary) {
                disk::remove(temporary).unwrap_or_default();
            }
            return Err(error);
        }
        if let Err(error) = apply_all(&steps) {
            // What could not even be taken back is left to the next writer, who will find it begun.
            if !steps.iter().any(Step::is_torn) {
                self.close(&change.id, Outcome::Aborted);
            }
            return Err(error);
        }
        let settled = self.settle(&steps)?;
        if settled.is_clean {
            self.close(&change.id, Outcome::Done);
        }
        Ok(Committed { change: Some(change.id), conflicts: settled.conflicts })
    }

    /// Says that a change is over. Best effort: what cannot be said now, the next writer finds out by itself.
    fn close(&mut self, id: &ChangeId, outcome: Outcome) {
        self.journal.end(id, outcome).and_then(|()| self.lock.clear()).unwrap_or_default();
    }

    /// Whether a write may happen, before anything is touched.
    fn check(&self, write: &Write, permission: Option<Permission>) -> Result<(), Error> {
        let Some(place) = write.place() else { return Ok(()) };
        let standing = place.root == Root::Notes && place.path.as_str() == layout::IDEAS;
        match (place.root, permission) {
            (Root::Vault, _) | (_, Some(Permission::Asked)) => {}
            (_, Some(Permission::Standing)) if standing => {}
            _ => return Err(Error::NotPermitted(place.to_string())),
        }
        let target = self.vault.file(place)?;
        if let Write::Append { end, .. } = write {
            // Under the lock nobody of us writes, and whoever else does changes this.
            let now = std::fs::metadata(&target).map_err(Error::io("read", &target))?;
            return match disk::Identity::of(&now) == end.identity {
                true => Ok(()),
                false => Err(Error::Changed(place.to_string())),
            };
        }
        let there = disk::hash(&target).map_err(Error::io("read", &target))?;
        match write {
            Write::Create { .. } | Write::Move { .. } => {
                if there.is_some() || disk::is_taken(&target).map_err(Error::io("read", &target))? {
                    return Err(Error::Exists(place.to_string()));
                }
                if let Some(there) = door::collision(&target) {
                    return Err(Error::Collides { wanted: place.path.name().to_owned(), there });
                }
            }
            Write::Replace { read, .. } | Write::Remove { read, .. } => {
                if there != Some(read.hash) {
                    return Err(Error::Changed(place.to_string()));
                }
            }
            Write::Append { .. } | Write::Forget => {}
        }
        if let Write::Move { from, hash, .. } = write {
            if from.root != Root::Vault || place.root != Root::Vault {
                return Err(Error::NotPermitted(from.to_string()));
            }
            let source = self.vault.file(from)?;
            if disk::hash(&source).map_err(Error::io("read", &source))? != Some(*hash) {
                return Err(Error::Changed(from.to_string()));
            }
        }
        Ok(())
    }

    /// Looks at what came out, makes the new names durable, and removes what is no longer needed.
    pub(super) fn settle(&self, steps: &[Step]) -> Result<Settled, Error> {
        let (mut conflicts, mut is_clean) = (Vec::new(), true);
        for step in steps {
            conflicts.extend(self.keep_foreign(step)?);
        }
        for folder in folders(steps) {
            match disk::sync_folder(folder) {
                // Emptied by a change that is being finished, and tidied away.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                synced => synced.map_err(Error::io("sync", folder))?,
            }
        }
        for step in steps {
            // A second look, right before it goes: an editor that had the old file open may have written to it.
            conflicts.extend(self.keep_foreign(step)?);
            // The change is durable; an old version that cannot be removed now is left to the next writer.
            is_clean &= step.temporary().is_none_or(|temporary| disk::remove(temporary).is_ok());
        }
        Ok(Settled { conflicts, is_clean })
    }

    /// If what stands under the temporary name is neither the old nor the new text, a person wrote it: it becomes a
    /// conflict copy beside the note.
    fn keep_foreign(&self, step: &Step) -> Result<Option<PathBuf>, Error> {
        let Some(temporary) = step.temporary() else { return Ok(None) };
        let Some(out) = disk::hash(temporary).map_err(Error::io("read", temporary))? else {
            return Ok(None);
        };
        let ours = match &step.op {
            Op::Create { after, .. } => out == *after,
            Op::Edit { before, after, .. } => out == *before || out == *after,
            Op::Remove { before, .. } => out == *before,
            Op::Append { .. } | Op::Move { .. } | Op::Forgotten => true,
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

fn changes_something(write: &Write) -> bool {
    !matches!(write, Write::Replace { read, text, .. } if read.text == *text)
}

fn stage_all(steps: &[Step], writes: &[Write]) -> Result<(), Error> {
    let on_files = writes.iter().filter(|write| write.place().is_some());
    for (step, write) in steps.iter().zip(on_files) {
        if let Some(folder) = step.target.parent() {
            disk::make_folder(folder).map_err(Error::io("make", folder))?;
        }
        let staged = match write {
            Write::Create { text, .. } => disk::stage(&step.staged, text.as_bytes(), None),
            Write::Replace { text, .. } => disk::stage(&step.staged, text.as_bytes(), Some(&step.target)),
            Write::Append { .. } | Write::Remove { .. } | Write::Move { .. } | Write::Forget => Ok(()),
        };
        staged.map_err(Error::io("write", &step.target))?;
    }
    Ok(())
}

/// Step 3. On an error, what was already applied is taken back.
fn apply_all(steps: &[Step]) -> Result<(), Error> {
    for (number, step) in steps.iter().enumerate() {
        if let Err(error) = step.apply() {
            for done in steps[..number].iter().rev() {
                done.take_back()?;
            }
            for temporary in steps.iter().filter_map(Step::temporary) {
                disk::remove(temporary).map_err(Error::io("remove", temporary))?;
            }
            return Err(error);
        }
    }
    Ok(())
}

impl Step {
    /// The file that is ours alone and goes when the change is done; a file that is moved is nobody's temporary one, and
    /// one that grows needs none.
    pub(super) fn temporary(&self) -> Option<&Path> {
        (!matches!(self.op, Op::Move { .. } | Op::Append { .. })).then_some(&self.staged)
    }

    /// Whether a part of what was to be added is there.
    fn is_torn(&self) -> bool {
        match &self.op {
            Op::Append { size, patch: Some(patch), .. } => {
                let there = disk::appended(&self.target, *size, patch.inserted().as_bytes());
                there.ok().flatten().is_some_and(|there| there > 0)
            }
            _ => false,
        }
    }

    pub(super) fn apply(&self) -> Result<(), Error> {
        let applied = match &self.op {
            Op::Create { .. } | Op::Move { .. } => disk::publish(&self.staged, &self.target),
            Op::Edit { .. } => disk::exchange(&self.staged, &self.target),
            Op::Append { size, patch: Some(patch), .. } => {
                disk::append(&self.target, *size, patch.inserted().as_bytes())
            }
            Op::Remove { .. } => disk::publish(&self.target, &self.staged),
            Op::Append { patch: None, .. } | Op::Forgotten => Ok(()),
        };
        applied.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists(self.place.to_string()),
            io::ErrorKind::InvalidData if matches!(self.op, Op::Append { .. }) => {
                Error::Changed(self.place.to_string())
            }
            _ => Error::io("write", &self.target)(error),
        })
    }

    /// The opposite of [`Step::apply`], as long as the temporary file is still there.
    pub(super) fn take_back(&self) -> Result<(), Error> {
        let taken = match &self.op {
            Op::Create { .. } | Op::Move { .. } => disk::publish(&self.target, &self.staged),
            Op::Remove { .. } => disk::publish(&self.staged, &self.target),
            Op::Edit { .. } => disk::exchange(&self.staged, &self.target),
            Op::Append { size, patch: Some(patch), .. } => {
                disk::cut(&self.target, *size, patch.inserted().as_bytes())
            }
            Op::Append { patch: None, .. } | Op::Forgotten => Ok(()),
        };
        taken.map_err(Error::io("restore", &self.target))
    }
}

/// The folders whose names changed.
fn folders(steps: &[Step]) -> BTreeSet<&Path> {
    let named = steps.iter().filter(|step| !matches!(step.op, Op::Append { .. }));
    named.flat_map(|step| [step.target.parent(), step.staged.parent()]).flatten().collect()
}

#[cfg(test)]
mod tests {
    use rekindle_core::base::time::TimeZone;
    use rekindle_core::vault::path::VaultPath;

    use super::*;
    use crate::trial_notes::places_in;

    fn vault(root: &Path) -> Vault {
        let places = places_in(root);
        for folder in [places.vault(), places.identity(), places.state()] {
            disk::make_folder(folder).unwrap();
        }
        Vault::open(&places).unwrap()
    }

    fn now() -> Zoned {
        "2026-11-15T02:13:08Z"
            .parse::<rekindle_core::base::time::Timestamp>()
            .unwrap()
            .to_zoned(TimeZone::UTC)
    }

    fn create(root: Root, path: &str, permission: Option<Permission>) -> Draft {
        let place = Place { root, path: VaultPath::parse(path).unwrap() };
        let writes = vec![Write::Create { place, text: "x\n".to_owned() }];
        Draft { permission, ..Draft::new("test", Actor::Worker, writes) }
    }

    #[test]
    fn vlt_07_nothing_outside_the_vault_without_a_recorded_permission() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let mut writer = vault.writer(&now()).unwrap();
        let mut refused = |draft: Draft| matches!(writer.commit(draft), Err(Error::NotPermitted(_)));
        assert!(refused(create(Root::Notes, "Ideas.md", None)));
        assert!(refused(create(Root::Notes, "Diary.md", Some(Permission::Standing))));
        assert!(refused(create(Root::Identity, "SOUL.md", Some(Permission::Standing))));
        assert!(!refused(create(Root::Notes, "Ideas.md", Some(Permission::Standing))));
        assert!(!refused(create(Root::Vault, "a.md", None)));
        let permissions: Vec<_> =
            vault.changes().unwrap().map(|record| record.unwrap().change.permission).collect();
        assert_eq!(permissions, [None, Some(Permission::Standing)]);
    }

    #[test]
    fn b_09_what_was_changed_since_it_was_read_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let mut writer = vault.writer(&now()).unwrap();
        writer.commit(create(Root::Vault, "a.md", None)).unwrap();
        let place = Place::vault(VaultPath::parse("a.md").unwrap());
        let read = vault.read(&place).unwrap().unwrap();
        disk::write_whole(&vault.file(&place).unwrap(), b"by hand").unwrap();
        let write = Write::Replace { place: place.clone(), read, text: "ours".to_owned() };
        let refused = writer.commit(Draft::new("test", Actor::User, vec![write]));
        assert!(matches!(refused, Err(Error::Changed(_))));
        assert_eq!(vault.read(&place).unwrap().unwrap().text, "by hand");
    }

    /// The instant between the last look and the exchange, played by hand.
    #[test]
    fn b_09_an_edit_in_the_last_instant_becomes_a_conflict_copy() {
        let folder = tempfile::tempdir().unwrap();
        let vault = vault(folder.path());
        let mut writer = vault.writer(&now()).unwrap();
        writer.commit(create(Root::Vault, "a.md", None)).unwrap();
        let place = Place::vault(VaultPath::parse("a.md").unwrap());
        let (target, old) = (vault.file(&place).unwrap(), vault.read(&place).unwrap().unwrap());
        let staged = target.with_file_name(".rekindle-test.tmp");
        disk::stage(&staged, b"ours", None).unwrap();
        disk::write_whole(&target, b"theirs").unwrap();
        let op = Write::Replace { place: place.clone(), read: old, text: "ours".to_owned() }.op();
        let step = Step { op, place: place.clone(), target, staged };
        step.apply().unwrap();
        let settled = writer.settle(&[step]).unwrap();
        assert_eq!(vault.read(&place).unwrap().unwrap().text, "ours");
        let [copy] = settled.conflicts.as_slice() else { panic!("{:?}", settled.conflicts) };
        assert!(copy.ends_with("a (conflict 20261115-021308).md"));
        assert_eq!(std::fs::read_to_string(copy).unwrap(), "theirs");
    }
}
