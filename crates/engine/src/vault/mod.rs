//! The only writer of Markdown, with a lock, a journal and undo.
//!
//! - [`Vault`] opens the folders and reads notes
//! - `path_guard`: resolves a path to its file and checks write permission
//! - `lock`, `journal`, `commit`, `recovery`: atomic and undoable changes
//! - `entries`, `documents`, `logs`: save, evolve, add a line or a section
//! - `amend`: adds a proposal's line to an identity file or a memory
//! - `inbox`, `incubator`: decisions about captured memories and ideas
//! - `scan`, `scan_cache`, `find`: listing, and lookup by id, path or slug
//! - `synced`: detects other machines that share the vault
//! - `undo`: undoes changes
//! - `week_page`, `home_notes`: derived notes: the page of a week, and notes for note apps
//! - [`sources`]: the notes that recall reads

mod amend;
pub(crate) mod commit;
mod documents;
mod entries;
mod error;
mod find;
mod home_notes;
mod inbox;
mod incubator;
pub(crate) mod journal;
mod lock;
mod logs;
mod path_guard;
mod recovery;
mod research;
pub(crate) mod scan;
mod scan_cache;
pub mod sources;
mod undo;
mod week_page;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::TimeZone;
use rekindle_core::config::ReadNotes;
use rekindle_core::vault::journal::{ChangeRoot, ChangedFile};
use rekindle_core::vault::layout;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::tombstone::Graveyard;

pub use amend::{AmendedFile, Amendment, REJECT_VERB};
pub use commit::{ChangeDraft, CommittedChange, FileWrite, VaultWriter};
pub use documents::{
    AddedLine, NewIdea, PROMOTE_VERB, Promotion, PromotionOutcome, PromotionPreview, ReviewPageOutcome,
};
pub use entries::{Edited, EvolvedEntry, NewEntry, SavedEntry};
pub use error::Error;
pub use home_notes::GeneratedNoteOutcome;
pub use inbox::{KeepRequest, ShelveResult, ShelvedEntry};
pub use incubator::{MovedIdea, OverdueIdea};
pub use journal::{ChangeOutcome, ChangeRecord};
pub use logs::{LogCache, LogEnd, LogSummary};
pub use research::ResearchableIdea;
pub use scan::{NoteProblem, ScannedEntry, VaultScan};
pub use scan_cache::ScanCache;
pub use undo::UndoneChange;

use self::lock::VaultLock;
use crate::platform::clock;
use crate::platform::disk::{self, FileContent};
use crate::platform::home::DataPaths;

/// The maximum size of a note that is read whole. Larger files are the user's own and are left alone.
pub const MAX_NOTE_BYTES: u64 = 8 * 1024 * 1024;

/// A note as it was read. A later write requires that it is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText {
    /// The text of the note.
    pub text: String,
    /// The hash of the text.
    pub hash: ContentHash,
}

/// An open vault of memories.
#[derive(Debug)]
pub struct Vault {
    folder: PathBuf,
    pub(crate) notes: PathBuf,
    identity: PathBuf,
    pub(crate) places: DataPaths,
    /// The user's time zone, loaded on first use.
    zone: OnceLock<TimeZone>,
    /// The cache of daily logs.
    pub(crate) logs: Arc<LogCache>,
    /// The notes of earlier listings.
    scans: Option<ScanCache>,
}

/// Keeps every other writer out of the vault until it is dropped.
#[derive(Debug)]
pub struct PausedWriters {
    _lock: VaultLock,
}

/// Waits for the current writer, then keeps all writers out.
pub fn pause_writers(places: &DataPaths) -> Result<PausedWriters, Error> {
    Ok(PausedWriters { _lock: VaultLock::acquire(&places.locks_folder())? })
}

impl Vault {
    /// Opens an existing vault. Creates nothing.
    pub fn open(places: &DataPaths) -> Result<Self, Error> {
        let resolve = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = match std::fs::metadata(places.vault()) {
            Ok(metadata) if metadata.is_dir() => resolve(places.vault()),
            Ok(_) => return Err(Error::NotAFolder(places.vault().to_owned())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::Missing(places.vault().to_owned()));
            }
            Err(error) => return Err(Error::io("open", places.vault())(error)),
        };
        Ok(Self {
            folder,
            notes: resolve(places.notes()),
            identity: resolve(places.identity()),
            places: places.clone(),
            zone: OnceLock::new(),
            logs: Arc::default(),
            scans: None,
        })
    }

    /// The same vault with another one's cache of daily logs.
    pub fn with_log_cache(self, logs: Arc<LogCache>) -> Self {
        Self { logs, ..self }
    }

    /// The same vault with a cache of listings.
    pub fn with_scan_cache(self, scans: ScanCache) -> Self {
        Self { scans: Some(scans), ..self }
    }

    /// The same vault with `zone` instead of the system's time zone.
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone: OnceLock::from(zone), ..self }
    }

    /// The user's time zone.
    pub fn zone(&self) -> &TimeZone {
        self.zone.get_or_init(clock::system_zone)
    }

    /// The folder of the vault, with links resolved.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The notes that contain the vault, with links resolved.
    pub fn notes(&self) -> &Path {
        &self.notes
    }

    /// The notes outside the vault folder that recall may read.
    pub fn readable_notes(&self) -> &ReadNotes {
        self.places.readable_notes()
    }

    /// The name of the vault folder, as links in the notes spell it.
    pub fn folder_name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn root(&self, root: ChangeRoot) -> &Path {
        match root {
            ChangeRoot::Vault => &self.folder,
            ChangeRoot::Notes => &self.notes,
            ChangeRoot::Identity => &self.identity,
        }
    }

    /// The file of a place. Links are followed as long as they stay inside. An identity file may link to any
    /// place that the user chose (IDN-02).
    pub fn file(&self, place: &ChangedFile) -> Result<PathBuf, Error> {
        if place.root == ChangeRoot::Identity {
            return path_guard::resolve_path(&self.identity, &place.path);
        }
        path_guard::resolve(self.root(place.root), &place.path)
    }

    /// Reads a note; `None` if it does not exist.
    pub fn read(&self, place: &ChangedFile) -> Result<Option<NoteText>, Error> {
        let file = self.file(place)?;
        match disk::read(&file, MAX_NOTE_BYTES).map_err(Error::io("read", &file))? {
            FileContent::Missing => Ok(None),
            FileContent::NotAFile => Err(Error::NotAFile(file)),
            FileContent::TooLarge(bytes) => {
                Err(Error::TooLarge { what: place.to_string(), bytes, limit: MAX_NOTE_BYTES })
            }
            FileContent::Bytes(bytes) => {
                let hash = ContentHash::of_bytes(&bytes);
                Ok(Some(NoteText { text: text(&place.to_string(), bytes)?, hash }))
            }
        }
    }

    /// Reads a note of the vault, which must exist.
    pub fn read_entry(&self, path: &VaultPath) -> Result<NoteText, Error> {
        self.read(&ChangedFile::vault(path.clone()))?.ok_or_else(|| Error::NotFound(path.to_string()))
    }

    /// The texts forgotten in this vault.
    pub fn graveyard(&self) -> Result<Graveyard, Error> {
        let stones = self.read(&ChangedFile::vault(layout::fixed_path(layout::TOMBSTONES)))?;
        Ok(stones.map(|note| Graveyard::parse(&note.text)).unwrap_or_default())
    }

    /// The changes made to this vault on this machine, newest first.
    pub fn changes(&self) -> Result<impl Iterator<Item = Result<ChangeRecord, Error>>, Error> {
        journal::changes(&self.places.journal_file())
    }
}

/// Converts bytes to text. The error names the first invalid line.
pub fn text(what: &str, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::NotText { what: what.to_owned(), line }
    })
}
