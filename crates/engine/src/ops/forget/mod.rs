//! Removes a memory and its text from every store, for good (B-08).
//!
//! The text leaves the notes, the archive, the daily logs, the journal and everything derived. A tombstone keeps
//! it from coming back. This is the only write that cannot be undone.
//!
//! A request is first written to `state/forget/`, and that file is removed last: the next writer finishes a
//! removal that was interrupted.

mod database;
mod erasable_store;
mod erasable_stores;
mod servers;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rekindle_core::base::id::EntryId;
use rekindle_core::base::ignore_failure::IgnoreFailure as _;
use rekindle_core::base::time::{Zoned, format_utc, parse};
use rekindle_core::vault::agent_edit::is_vouched_for;
use rekindle_core::vault::entry::EntryProperties;
use rekindle_core::vault::erase::ErasureTarget;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout::{self, VaultShelf, is_conflict_copy};
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::tombstone::Tombstone;
use serde::{Deserialize, Serialize};

use crate::platform::disk::{self, TEMPORARY_PREFIX};
use crate::platform::random;
use crate::vault::commit::VaultWriter;
use crate::vault::journal::VaultJournal;
use crate::vault::scan::{all_files, walk_files_except};
use crate::vault::{ChangeDraft, Error, FileWrite, Vault};

/// The target of a forget.
#[derive(Clone, Copy, Debug)]
pub enum ForgetRequest<'a> {
    /// A memory with all its versions.
    Entry(&'a VaultPath),
    /// A statement, in every place that holds it.
    Text(&'a str),
}

/// A forget in progress, with the data needed to finish it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PendingForget {
    at: String,
    by: ChangeActor,
    /// The files to delete.
    files: BTreeSet<VaultPath>,
    /// The texts of those files, or the text that the user named.
    versions: Vec<ForgottenVersion>,
    messages: Vec<String>,
    /// True if an attempt left something behind. Then only another `forget` retries, so that a file that
    /// nobody can change does not slow down every save.
    stuck: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct ForgottenVersion {
    id: Option<EntryId>,
    text: String,
}

impl PendingForget {
    fn target(&self) -> ErasureTarget {
        ErasureTarget::new(&self.versions.iter().map(|version| version.text.as_str()).collect::<Vec<_>>())
    }

    fn save_pending(&self, note: &Path) -> Result<(), Error> {
        let text = serde_json::to_vec(self).map_err(|error| Error::io("write", note)(error.into()))?;
        disk::write_atomic(note, &text).map_err(Error::io("write", note))
    }
}

/// The result of a forget, or of its plan.
#[derive(Clone, Debug, Serialize)]
pub struct ForgetReport {
    /// The files of the memory itself, relative to the vault.
    pub files: Vec<VaultPath>,
    /// The number of matches in each store.
    pub places: Vec<(&'static str, usize)>,
    /// The user's own notes with the same text. Rekindle does not change them.
    pub also_in: Vec<PathBuf>,
}

impl Vault {
    /// Lists everything that [`Vault::forget`] would remove.
    pub fn plan_forget(&self, what: ForgetRequest<'_>) -> Result<ForgetReport, Error> {
        let going = self.going(what, ChangeActor::User, String::new())?;
        let target = going.target();
        let mut places = Vec::new();
        for store in erasable_stores::all_stores(self) {
            let holding = store.files_with(&target)?;
            let others = holding.iter().filter(|file| !self.goes_whole(&going, file)).count();
            places.push((store.name(), others));
        }
        Ok(ForgetReport {
            files: going.files.into_iter().collect(),
            places,
            also_in: self.elsewhere(&target)?,
        })
    }

    /// True if an agent may carry out this plan: it wrote every version itself, the user reviewed none of
    /// them, and no other document or message has the same text. A forget cannot be undone, so the user
    /// decides everything else.
    pub fn agent_may_forget(&self, plan: &ForgetReport) -> Result<bool, Error> {
        let says_the_same =
            |(store, count): &(&str, usize)| erasable_stores::VERBATIM_STORES.contains(store) && *count > 0;
        if plan.places.iter().any(says_the_same) || !plan.also_in.is_empty() {
            return Ok(false);
        }
        for path in &plan.files {
            let Some(read) = self.read(&ChangedFile::vault(path.clone()))? else { continue };
            let vouched = ParsedNote::parse(&read.text).map_or(true, |note| is_vouched_for(path, &note));
            if vouched {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Erases the target, verifies that it is gone, and leaves a tombstone.
    pub fn forget(
        &self,
        what: ForgetRequest<'_>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<ForgetReport, Error> {
        let mut writer = self.writer(now)?;
        let going = self.going(what, by, format_utc(now.timestamp()))?;
        let folder = self.places.forget();
        let id = random::change_id(now.timestamp()).map_err(Error::io("get random bytes for", &folder))?;
        let note = folder.join(format!("{id}.json"));
        going.save_pending(&note)?;
        let forgotten = writer.carry_out(&going, &note)?;
        // Also retry earlier forgets that left something behind.
        writer.resume_forgetting(true);
        Ok(forgotten)
    }

    /// Finishes the forgets that a killed process left. Callers run it before they write to the vault.
    pub fn resume_forgets(&self, now: &Zoned) -> Result<(), Error> {
        if self.unfinished_forgets() > 0 {
            self.writer(now)?.resume_forgetting(false);
        }
        Ok(())
    }

    /// Finishes also the forgets that left something behind: a server may be back, or a file writable.
    pub fn retry_forgets(&self, now: &Zoned) -> Result<(), Error> {
        if self.unfinished_forgets() > 0 {
            self.writer(now)?.resume_forgetting(true);
        }
        Ok(())
    }

    /// The number of unfinished forgets.
    pub fn unfinished_forgets(&self) -> usize {
        notes(&self.places.forget()).len()
    }

    fn going(&self, what: ForgetRequest<'_>, by: ChangeActor, at: String) -> Result<PendingForget, Error> {
        let mut going = PendingForget {
            at,
            by,
            files: BTreeSet::new(),
            versions: Vec::new(),
            messages: Vec::new(),
            stuck: false,
        };
        match what {
            ForgetRequest::Text(text) => {
                going.versions.push(ForgottenVersion { id: None, text: text.to_owned() });
            }
            ForgetRequest::Entry(path) => self.add_versions(path, &mut going)?,
        }
        Ok(going)
    }

    /// Adds an entry, its older and newer versions, and their conflict copies.
    fn add_versions(&self, path: &VaultPath, going: &mut PendingForget) -> Result<(), Error> {
        if layout::shelf_of(path) == VaultShelf::Other {
            return Err(Error::NotAMemory(path.to_string()));
        }
        let mut next = vec![path.clone()];
        while let Some(path) = next.pop() {
            if !going.files.insert(path.clone()) {
                continue;
            }
            let Some(read) = self.read(&ChangedFile::vault(path.clone()))? else {
                going.files.remove(&path);
                continue;
            };
            // A note with broken properties can still be forgotten.
            let Ok(note) = ParsedNote::parse(&read.text) else {
                going.versions.push(ForgottenVersion { id: None, text: read.text });
                continue;
            };
            let entry = EntryProperties::of(&note, &path);
            going.versions.push(ForgottenVersion { id: entry.id.clone(), text: note.body().to_owned() });
            going.messages.extend(entry.provenance.messages.clone());
            let linked = [&entry.supersedes, &entry.superseded_by].into_iter().flatten();
            let linked = linked.filter_map(|link| VaultPath::parse(link).ok());
            // A property that names a shared document does not delete that document.
            next.extend(linked.filter(|path| layout::shelf_of(path) != VaultShelf::Other));
            next.extend(self.conflict_copies(&path)?);
        }
        if going.files.is_empty() {
            return Err(Error::NotFound(path.to_string()));
        }
        Ok(())
    }

    fn conflict_copies(&self, path: &VaultPath) -> Result<Vec<VaultPath>, Error> {
        let file = self.file(&ChangedFile::vault(path.clone()))?;
        let Some(folder) = file.parent() else { return Ok(Vec::new()) };
        let names = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
        Ok(names
            .filter_map(|item| item.ok()?.file_name().into_string().ok())
            .filter(|name| {
                let mark = name.strip_prefix(path.stem()).unwrap_or_default();
                is_conflict_copy(name)
                    && (mark.starts_with([' ', '.', '_']) || mark.starts_with("-conflict-"))
            })
            .filter_map(|name| path.with_name(&name).ok())
            .collect())
    }

    fn goes_whole(&self, going: &PendingForget, file: &Path) -> bool {
        self.vault_path(file).is_some_and(|path| going.files.contains(&path))
    }

    /// Data that a killed forget cut from a file of the state folder and had not yet overwritten. Other
    /// temporary files there may be in use, because not every writer of the state folder holds our lock.
    fn torn_out(&self) -> Result<Vec<PathBuf>, Error> {
        let state = self.places.state();
        let files = all_files(state).map_err(Error::io("read", state))?;
        let ours = |file: &PathBuf| {
            file.file_name().and_then(|name| name.to_str()?.strip_prefix(TEMPORARY_PREFIX)).is_some_and(
                |purpose| {
                    purpose.starts_with(disk::REPLACING_PREFIX) || purpose.starts_with(disk::SHREDDING_PREFIX)
                },
            )
        };
        Ok(files.into_iter().filter(ours).collect())
    }

    /// The user's own notes around the vault with the same text.
    fn elsewhere(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        if target.is_empty() || !self.folder().starts_with(&self.notes) {
            return Ok(Vec::new());
        }
        let ideas = self.notes.join(layout::IDEAS);
        let notes = walk_files_except(&self.notes, self.folder()).map_err(Error::io("read", &self.notes))?;
        let notes = notes
            .into_iter()
            .filter(|file| file.extension().is_some_and(|extension| extension == "md"))
            .filter(|file| !file.starts_with(self.folder()) && *file != ideas);
        erasable_stores::holding(notes.collect(), target)
    }
}

/// The request files of unfinished forgets.
fn notes(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).map(|notes| notes.filter_map(Result::ok).collect());
    found.unwrap_or_else(|_| Vec::<std::fs::DirEntry>::new()).into_iter().map(|note| note.path()).collect()
}

impl VaultWriter<'_> {
    /// Finishes every interrupted forget, and with `stuck` also those that left something behind. A forget
    /// that cannot be finished keeps its request file, which `doctor` reports, but must not block saves.
    fn resume_forgetting(&mut self, stuck: bool) {
        for note in notes(&self.vault.places.forget()) {
            let going = std::fs::read(&note)
                .ok()
                .and_then(|text| serde_json::from_slice::<PendingForget>(&text).ok());
            let is_whole = note.extension().is_some_and(|extension| extension == "json");
            let done = match going {
                Some(going) if is_whole && going.stuck && !stuck => Ok(()),
                Some(going) if is_whole => self.carry_out(&going, &note).map(drop),
                // Written or shredded half-way: the request was never acknowledged, or is done.
                _ => disk::shred(&note).map_err(Error::io("remove", &note)),
            };
            done.ignore_failure("the request file stays, and `doctor` reports it");
        }
    }

    fn carry_out(&mut self, going: &PendingForget, note: &Path) -> Result<ForgetReport, Error> {
        let vault = self.vault;
        let target = going.target();
        self.write_tombstones(going)?;
        let mut places = Vec::new();
        let stores = erasable_stores::all_stores(vault);
        for store in &stores {
            places.push((store.name(), store.erase(going, &target)?));
        }
        // The journal was rewritten, so open it again.
        self.journal = VaultJournal::open(&vault.places.journal_file())?;
        for path in &going.files {
            let file = vault.file(&ChangedFile::vault(path.clone()))?;
            disk::shred(&file).map_err(Error::io("remove", &file))?;
        }
        // We hold the lock, so a temporary file can only come from an interrupted run.
        for file in vault.abandoned_temporaries()?.into_iter().chain(vault.torn_out()?) {
            disk::shred(&file).map_err(Error::io("remove", &file))?;
        }
        let mut left = Vec::new();
        for store in &stores {
            left.extend(store.files_with(&target)?);
        }
        if !left.is_empty() {
            PendingForget { stuck: true, ..going.clone() }.save_pending(note)?;
            return Err(Error::StillThere(left));
        }
        disk::shred(note).map_err(Error::io("remove", note))?;
        Ok(ForgetReport {
            files: going.files.iter().cloned().collect(),
            places,
            also_in: vault.elsewhere(&target)?,
        })
    }

    /// Writes the tombstones first: even after a crash nothing learns it again.
    fn write_tombstones(&mut self, going: &PendingForget) -> Result<(), Error> {
        let graves = self.vault.graveyard()?;
        let fresh =
            || random::bytes::<16>().map(|salt| salt.iter().map(|byte| format!("{byte:02x}")).collect());
        let salt = match graves.salt() {
            Some(salt) => salt.to_owned(),
            None => fresh().map_err(Error::io("get random bytes for", self.vault.folder()))?,
        };
        let at = parse(&going.at).unwrap_or(self.now.timestamp());
        let mut stones = String::new();
        for ForgottenVersion { id, text } in &going.versions {
            if !graves.holds_text(text) || id.as_ref().is_some_and(|id| !graves.holds_entry(id)) {
                stones
                    .push_str(&Tombstone::new(at, &salt, text, id.clone(), going.messages.clone()).render());
            }
        }
        if stones.is_empty() {
            return Ok(());
        }
        let place = ChangedFile::vault(layout::fixed_path(layout::TOMBSTONES));
        let read = self.vault.read(&place)?;
        let text = read.as_ref().map_or_else(String::new, |note| note.text.clone()) + &stones;
        let mut writes = vec![FileWrite::create_or_replace(place, read, text)];
        writes.extend(going.files.iter().map(|_| FileWrite::Forget));
        if going.files.is_empty() {
            writes.push(FileWrite::Forget);
        }
        self.commit(ChangeDraft::new("forget", going.by, writes))?;
        Ok(())
    }
}
