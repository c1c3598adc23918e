//! Saves memories and gives them new versions.

use std::path::PathBuf;

use rekindle_core::base::id::{ChangeId, EntryId};
use rekindle_core::base::provenance::{Origin, Provenance};
use rekindle_core::base::scope::Scope;
use rekindle_core::base::sentiment::Sentiment;
use rekindle_core::base::time::{Timestamp, Zoned};
use rekindle_core::text::clean_and_redact;
use rekindle_core::text::redact::RedactionCounts;
use rekindle_core::vault::entry::{
    Confidence, EntryProperties, EntryStatus, EvolveRequest, EvolvedNotes, MAX_BODY_BYTES, evolve,
    mark_superseded,
};
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout::{self, EntryDestination, VaultShelf};
use rekindle_core::vault::path::{VaultPath, slug};

use super::{ChangeDraft, Error, FileWrite, NoteText, Vault};
use crate::platform::random;

/// The maximum number of versions of one entry per day; more means an error elsewhere.
const MAX_VERSIONS_PER_DAY: usize = 9999;

/// A memory to be saved.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// The kind of memory.
    pub kind: String,
    /// The name of the note.
    pub slug: String,
    /// The destination of the note.
    pub to: EntryDestination,
    /// The tags for searches.
    pub tags: Vec<String>,
    /// The scope of the memory.
    pub scope: Scope,
    /// The text of the memory.
    pub body: String,
    /// The confidence in it.
    pub confidence: Confidence,
    /// The speaker and the source.
    pub provenance: Provenance,
    /// The time of the statement; now if unknown.
    pub said_at: Option<Timestamp>,
}

/// The result of a save.
#[derive(Clone, Debug)]
pub struct SavedEntry {
    /// The id of the memory.
    pub id: EntryId,
    /// The path of the note.
    pub path: VaultPath,
    /// The id of the change.
    pub change: Option<ChangeId>,
    /// The number of redacted secrets by type.
    pub redacted: RedactionCounts,
    /// True if the same text was forgotten before.
    pub was_forgotten: bool,
}

/// A new version of a memory, without its text.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewVersion<'a> {
    pub(super) path: &'a VaultPath,
    pub(super) reason: &'a str,
    pub(super) origin: Origin,
    /// The proposal that it carries out.
    pub(super) proposal: Option<&'a str>,
    /// Another memory with the same text, which becomes redundant.
    pub(super) twin: Option<&'a VaultPath>,
    pub(super) by: ChangeActor,
    /// The time of the user's statement; `None` for now.
    pub(super) said_at: Option<Timestamp>,
    /// The user's sentiment at that time.
    pub(super) sentiment: Option<Sentiment>,
}

/// The result of giving a memory a new version.
#[derive(Clone, Debug)]
pub struct EvolvedEntry {
    /// The id of the new version.
    pub id: EntryId,
    /// The path of the new version.
    pub path: VaultPath,
    /// The path of the archived version.
    pub archive: VaultPath,
    /// The id of the change.
    pub change: Option<ChangeId>,
    /// The number of redacted secrets by type.
    pub redacted: RedactionCounts,
    /// The conflict copies of concurrent edits.
    pub conflicts: Vec<PathBuf>,
}

/// The result of an edit.
#[derive(Clone, Debug)]
pub struct Edited {
    /// The id of the change.
    pub change: Option<ChangeId>,
    /// The number of redacted secrets by type.
    pub redacted: RedactionCounts,
    /// The conflict copies of concurrent edits.
    pub conflicts: Vec<PathBuf>,
}

impl Vault {
    /// Saves a new memory (VLT-01). It never overwrites an existing one.
    pub fn save(&self, new: &NewEntry, by: ChangeActor, now: &Zoned) -> Result<SavedEntry, Error> {
        self.save_statement(new, None, by, now)
    }

    /// The same as [`Vault::save`] for session text, with the user's sentiment (FBK-07).
    pub fn save_statement(
        &self,
        new: &NewEntry,
        sentiment: Option<Sentiment>,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<SavedEntry, Error> {
        let (body, redacted) = admitted("the body", &new.body)?;
        let path = layout::entry(new.to, &new.kind, &new.slug)?;
        let id = random::entry_id().map_err(Error::io("get random bytes for", self.folder()))?;
        let always_load = new.to == EntryDestination::AlwaysLoad;
        let entry = EntryProperties {
            id: Some(id.clone()),
            kind: slug("kind", &new.kind)?,
            status: EntryStatus::Active,
            created: Some(new.said_at.unwrap_or_else(|| now.timestamp())),
            updated: Some(new.said_at.unwrap_or_else(|| now.timestamp())),
            tags: new.tags.iter().map(|tag| clean_and_redact(tag).text).collect(),
            group: new.to.group().folder_name().to_owned(),
            scope: new.scope.clone(),
            always_load,
            supersedes: None,
            superseded_by: None,
            confidence: Some(new.confidence),
            sentiment,
            provenance: new.provenance.clone(),
        };
        let was_forgotten = self.graveyard()?.holds_text(&body);
        let write = FileWrite::Create { place: ChangedFile::vault(path.clone()), text: entry.render(&body) };
        let committed = self.writer(now)?.commit(ChangeDraft::new("save", by, vec![write]))?;
        Ok(SavedEntry { id, path, change: committed.change, redacted, was_forgotten })
    }

    /// Replaces the body of a memory; the old version goes to the archive (VLT-04). Readers see the old or
    /// the new note at its path, never none (VLT-05).
    pub fn evolve(
        &self,
        path: &VaultPath,
        body: &str,
        reason: &str,
        origin: Origin,
        by: ChangeActor,
        now: &Zoned,
    ) -> Result<EvolvedEntry, Error> {
        let new = NewVersion {
            path,
            reason,
            origin,
            proposal: None,
            twin: None,
            by,
            said_at: None,
            sentiment: None,
        };
        self.evolve_with(&new, &mut |_| Ok(body.to_owned()), now)
    }

    /// The same as [`Vault::evolve`] for the user's words from a session: the new version has the date of the
    /// statement.
    pub fn evolve_statement(
        &self,
        path: &VaultPath,
        body: &str,
        reason: &str,
        said_at: Option<Timestamp>,
        sentiment: Option<Sentiment>,
        now: &Zoned,
    ) -> Result<EvolvedEntry, Error> {
        let (origin, by) = (Origin::User, ChangeActor::Worker);
        let new = NewVersion { path, reason, origin, proposal: None, twin: None, by, said_at, sentiment };
        self.evolve_with(&new, &mut |_| Ok(body.to_owned()), now)
    }

    /// The same, with a body computed from the current one.
    pub(super) fn evolve_with(
        &self,
        version: &NewVersion<'_>,
        make: &mut dyn FnMut(&str) -> Result<String, Error>,
        now: &Zoned,
    ) -> Result<EvolvedEntry, Error> {
        let NewVersion { path, reason, origin, proposal: about, twin, by, said_at, sentiment } = *version;
        if layout::shelf_of(path) == VaultShelf::Archive {
            return Err(Error::Archived(path.to_string()));
        }
        if layout::shelf_of(path) == VaultShelf::Other {
            return Err(Error::NotAMemory(path.to_string()));
        }
        let reason = clean_and_redact(reason);
        let mut redacted = RedactionCounts::default();
        redacted.merge(&reason.redacted);
        let id = random::entry_id().map_err(Error::io("get random bytes for", self.folder()))?;
        // Read everything under the lock, so that two concurrent evolves of one entry make two versions, not
        // one.
        let mut writer = self.writer(now)?;
        let read = self.read_entry(path)?;
        let document = |source| Error::Document { path: path.to_string(), source };
        let (body, found) =
            admitted("the body", &make(ParsedNote::parse(&read.text).map_err(document)?.body())?)?;
        redacted.merge(&found);
        let archive = self.free_archive_path(path, now)?;
        let change = EvolveRequest {
            body: &body,
            reason: &reason.text,
            id: &id,
            at: said_at.unwrap_or_else(|| now.timestamp()),
            path,
            archive: &archive,
            origin,
            approved: about.is_some(),
            sentiment,
        };
        let EvolvedNotes { new, archived } = evolve(&read.text, &change).map_err(document)?;
        let mut writes = vec![
            FileWrite::Create { place: ChangedFile::vault(archive.clone()), text: archived },
            FileWrite::Replace { place: ChangedFile::vault(path.clone()), read, text: new },
        ];
        if let Some(twin) = twin {
            let read = self.read_entry(twin)?;
            let document = |source| Error::Document { path: twin.to_string(), source };
            let note = ParsedNote::parse(&read.text).map_err(document)?;
            let text = mark_superseded(&note, path).map_err(document)?;
            writes.push(FileWrite::Create {
                place: ChangedFile::vault(self.free_archive_path(twin, now)?),
                text,
            });
            writes.push(FileWrite::Remove { place: ChangedFile::vault(twin.clone()), read });
        }
        let about = about.map(str::to_owned);
        let committed =
            writer.commit(ChangeDraft { proposal: about, ..ChangeDraft::new("evolve", by, writes) })?;
        let path = path.clone();
        Ok(EvolvedEntry {
            id,
            path,
            archive,
            change: committed.change,
            redacted,
            conflicts: committed.conflicts,
        })
    }

    /// Replaces the note of a memory with the user's edited text, as one undoable change. Fails if the text
    /// has no readable frontmatter, or if the note is no longer `read`.
    pub fn edit_entry(
        &self,
        path: &VaultPath,
        read: &NoteText,
        text: &str,
        now: &Zoned,
    ) -> Result<Edited, Error> {
        if layout::shelf_of(path) == VaultShelf::Archive {
            return Err(Error::Archived(path.to_string()));
        }
        if layout::shelf_of(path) == VaultShelf::Other {
            return Err(Error::NotAMemory(path.to_string()));
        }
        let document = |source| Error::Document { path: path.to_string(), source };
        let body = ParsedNote::parse(text).map_err(document)?.body().to_owned();
        let (body, mut redacted) = admitted("the body", &body)?;
        let mut edited = String::with_capacity(text.len());
        for line in
            text.strip_suffix(ParsedNote::parse(text).map_err(document)?.body()).unwrap_or_default().lines()
        {
            // Ids and hashes from the old text are no secrets.
            if read.text.lines().any(|before| before == line) {
                edited.push_str(line);
            } else {
                let admitted = clean_and_redact(line);
                redacted.merge(&admitted.redacted);
                edited.push_str(&admitted.text);
            }
            edited.push('\n');
        }
        edited.push_str(&body);
        ParsedNote::parse(&edited).map_err(document)?;
        let mut writer = self.writer(now)?;
        let current = self.read_entry(path)?;
        if current.hash != read.hash {
            return Err(Error::Changed(path.to_string()));
        }
        let write =
            FileWrite::Replace { place: ChangedFile::vault(path.clone()), read: current, text: edited };
        let committed = writer.commit(ChangeDraft::new("edit", ChangeActor::User, vec![write]))?;
        Ok(Edited { change: committed.change, redacted, conflicts: committed.conflicts })
    }

    /// The first unused archive name of the day.
    pub(super) fn free_archive_path(&self, path: &VaultPath, now: &Zoned) -> Result<VaultPath, Error> {
        for number in 1..=MAX_VERSIONS_PER_DAY {
            let archive = layout::archive(path, now.date(), number)?;
            let file = self.file(&ChangedFile::vault(archive.clone()))?;
            if !crate::platform::disk::name_exists(&file).map_err(Error::io("read", &file))? {
                return Ok(archive);
            }
        }
        Err(Error::Exists(layout::archive(path, now.date(), MAX_VERSIONS_PER_DAY)?.to_string()))
    }
}

/// Admits a body for storage: checks its size, cleans it and redacts secrets (B-02, B-03).
fn admitted(what: &str, body: &str) -> Result<(String, RedactionCounts), Error> {
    if body.len() > MAX_BODY_BYTES {
        let (bytes, limit) = (body.len() as u64, MAX_BODY_BYTES as u64);
        return Err(Error::TooLarge { what: what.to_owned(), bytes, limit });
    }
    let admitted = clean_and_redact(body);
    Ok((admitted.text, admitted.redacted))
}
