//! The inbox, and the user's decisions about it (SID-06, SID-08, R-05). Kept memories move to their kind,
//! dropped ones to the archive; each command is one change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rekindle_core::base::id::{ChangeId, EntryId};
use rekindle_core::base::time::Zoned;
use rekindle_core::vault::entry::EntryProperties;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout::{self, EntryDestination, EntryGroup, VaultShelf};
use rekindle_core::vault::path::{VaultPath, fold_name, slug};
use rekindle_core::vault::shelf_moves;

use super::{ChangeDraft, Error, FileWrite, NoteText, ScannedEntry, Vault};
use crate::platform::disk;

/// The highest number that is tried to make a name unique.
const MAX_NUMBERED_NAMES: usize = 999;

/// The options of keeping a memory.
#[derive(Clone, Debug, Default)]
pub struct KeepRequest {
    /// A kind that overrides the note's own.
    pub kind: Option<String>,
    /// True if it loads at every session start.
    pub always_load: bool,
}

/// The result of moving entries.
#[derive(Clone, Debug, Default)]
pub struct ShelveResult {
    /// The moved entries, in the given order.
    pub entries: Vec<ShelvedEntry>,
    /// The id of the change.
    pub change: Option<ChangeId>,
    /// The conflict copies of concurrent edits.
    pub conflicts: Vec<PathBuf>,
}

/// An entry that was moved.
#[derive(Clone, Debug)]
pub struct ShelvedEntry {
    /// The id, if it has one.
    pub id: Option<EntryId>,
    /// The path before the move.
    pub from: VaultPath,
    /// The path after the move.
    pub path: VaultPath,
}

impl Vault {
    /// The entries of the inbox, oldest first; those without a date come last.
    pub fn inbox(&self) -> Result<Vec<ScannedEntry>, Error> {
        let mut waiting = self.scan(false)?.entries;
        waiting.retain(|found| found.shelf == VaultShelf::Inbox);
        waiting.sort_by_key(|found| (found.entry.created.is_none(), found.entry.created));
        Ok(waiting)
    }

    /// The path of the inbox entry that `reference` names: an id, a path or a slug. A slug prefers the inbox,
    /// even if another memory has the same name.
    pub fn find_in_inbox(&self, reference: &str, cwd: &Path) -> Result<VaultPath, Error> {
        let name = fold_name(reference.strip_suffix(".md").unwrap_or(reference));
        let mut named = self.inbox()?;
        named.retain(|found| fold_name(found.path.stem()) == name);
        if let [only] = named.as_slice() {
            return Ok(only.path.clone());
        }
        let path = self.find(reference, cwd)?;
        match layout::shelf_of(&path) {
            VaultShelf::Inbox => Ok(path),
            _ => Err(Error::NotInInbox(path.to_string())),
        }
    }

    /// Keeps inbox entries: each note moves to its kind with its current text.
    pub fn keep_inboxed(
        &self,
        paths: &[VaultPath],
        how: &KeepRequest,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<ShelveResult, Error> {
        let mut taken = BTreeSet::new();
        let kind = how.kind.as_deref().map(|kind| slug("kind", kind)).transpose()?;
        self.shelve_entries("keep", paths, by, now, |path, read, note| {
            let own = note.text_of("kind").filter(|kind| !kind.trim().is_empty());
            let folder = kind.as_deref().or(own).ok_or_else(|| Error::NoKind(path.to_string()))?.to_owned();
            let to = match how.always_load {
                true => EntryDestination::AlwaysLoad,
                false => EntryDestination::Group(EntryGroup::PersonalPrivate),
            };
            let to = self.free_name(to, &folder, path.stem(), &taken)?;
            taken.insert(to.clone());
            let text = shelf_moves::keep_note(&read.text, kind.as_deref(), how.always_load, now.timestamp());
            Ok((to, text.map_err(|source| Error::Document { path: path.to_string(), source })?))
        })
    }

    /// Drops inbox entries: they move to the archive, so nothing is lost.
    pub fn drop_inboxed(
        &self,
        paths: &[VaultPath],
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<ShelveResult, Error> {
        self.shelve_entries("drop", paths, by, now, |path, read, _| {
            let text = shelf_moves::drop_note(&read.text);
            let text = text.map_err(|source| Error::Document { path: path.to_string(), source })?;
            Ok((self.free_archive_path(path, now)?, text))
        })
    }

    /// Moves all entries in one change. Every note is read under the lock, so that the user's latest edit is
    /// included.
    fn shelve_entries(
        &self,
        verb: &'static str,
        paths: &[VaultPath],
        by: ChangeActor,
        now: &Zoned,
        mut place: impl FnMut(&VaultPath, &NoteText, &ParsedNote<'_>) -> Result<(VaultPath, String), Error>,
    ) -> Result<ShelveResult, Error> {
        let mut writer = self.writer(now)?;
        let (mut writes, mut entries) = (Vec::new(), Vec::<ShelvedEntry>::new());
        for path in paths {
            if entries.iter().any(|entry| entry.from == *path) {
                continue;
            }
            if layout::shelf_of(path) != VaultShelf::Inbox {
                return Err(Error::NotInInbox(path.to_string()));
            }
            let read = self.read_entry(path)?;
            let note = ParsedNote::parse(&read.text)
                .map_err(|source| Error::Document { path: path.to_string(), source })?;
            let (to, text) = place(path, &read, &note)?;
            let id = EntryProperties::of(&note, path).id;
            entries.push(ShelvedEntry { id, from: path.clone(), path: to.clone() });
            // Create the new one first: a reader may see the entry twice for an instant, but never misses it.
            writes.push(FileWrite::Create { place: ChangedFile::vault(to), text });
            writes.push(FileWrite::Remove { place: ChangedFile::vault(path.clone()), read });
        }
        let committed = writer.commit(ChangeDraft::new(verb, by, writes))?;
        Ok(ShelveResult { entries, change: committed.change, conflicts: committed.conflicts })
    }

    /// A free name for an entry, numbered if its own is taken.
    fn free_name(
        &self,
        to: EntryDestination,
        kind: &str,
        name: &str,
        taken: &BTreeSet<VaultPath>,
    ) -> Result<VaultPath, Error> {
        for number in 1..=MAX_NUMBERED_NAMES {
            let name = if number == 1 { name.to_owned() } else { format!("{name} {number}") };
            let path = layout::entry(to, kind, &name)?;
            let file = self.file(&ChangedFile::vault(path.clone()))?;
            if !taken.contains(&path) && !disk::name_exists(&file).map_err(Error::io("read", &file))? {
                return Ok(path);
            }
        }
        Err(Error::Exists(layout::entry(to, kind, name)?.to_string()))
    }
}
