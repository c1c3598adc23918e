//! The only writer of Markdown, with a lock, a journal and undo.
//!
//! - [`Vault`] opens the folders and reads notes
//! - `door`: which file a path really means, and who may write there
//! - `lock`, `journal`, `commit`, `recover`: how a change becomes all of it or none of it, and can be taken back
//! - `entries`, `documents`, `logs`: what people do: save, evolve, add a line or a section
//! - `amend`: a line for an identity file or a memory, as a proposal has it
//! - `inbox`, `incubator`: what they decide about what was captured, and about ideas
//! - `scan`, `find`: what there is, and which memory a person means
//! - `synced`: whether other machines have a part in it
//! - `undo`: takes changes back
//! - [`sources`]: the notes that recall reads

mod amend;
pub(crate) mod commit;
mod documents;
mod door;
mod entries;
mod error;
mod find;
mod inbox;
mod incubator;
pub(crate) mod journal;
mod lock;
mod logs;
mod recover;
mod research;
pub(crate) mod scan;
pub mod sources;
mod undo;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rekindle_core::base::hash::ContentHash;
use rekindle_core::base::time::TimeZone;
use rekindle_core::config::ReadNotes;
use rekindle_core::vault::journal::{Place, Root};
use rekindle_core::vault::layout;
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::tombstone::Graveyard;

pub use amend::{Amended, Amendment, REJECT};
pub use commit::{Committed, Draft, Write, Writer};
pub use documents::{LineAdded, NewIdea, PROMOTE, Previewed, Promoted, Promotion, ReviewShown};
pub use entries::{Edited, Evolved, NewEntry, Saved};
pub use error::Error;
pub use inbox::{Keeping, Shelved, ShelvedEntry};
pub use incubator::{IdeaMoved, Overdue};
pub use journal::{Outcome, Record};
pub use logs::{End, Logs, Whole};
pub use research::Researchable;
pub use scan::{Found, Problem, Scan};
pub use undo::Undone;

use crate::platform::clock;
use crate::platform::disk::{self, Content};
use crate::platform::home::Places;

/// The largest note that is read whole. Larger files are a person's own and are left alone.
pub const MAX_NOTE_BYTES: u64 = 8 * 1024 * 1024;

/// A note as it was read: what a later write must still find there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteText {
    /// The text.
    pub text: String,
    /// Its hash.
    pub hash: ContentHash,
}

/// An open vault.
#[derive(Debug)]
pub struct Vault {
    folder: PathBuf,
    pub(crate) notes: PathBuf,
    identity: PathBuf,
    pub(crate) places: Places,
    /// The zone of the person's days, once somebody asked for it.
    zone: OnceLock<TimeZone>,
    /// What is known of the daily logs.
    pub(crate) logs: Arc<Logs>,
}

impl Vault {
    /// Opens the vault that is there. Creates nothing.
    pub fn open(places: &Places) -> Result<Self, Error> {
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
        })
    }

    /// The same vault with what another one has learnt about the daily logs.
    pub fn knowing(self, logs: Arc<Logs>) -> Self {
        Self { logs, ..self }
    }

    /// The same vault with the person's days in `zone` instead of the system's.
    pub fn in_zone(self, zone: TimeZone) -> Self {
        Self { zone: OnceLock::from(zone), ..self }
    }

    /// The zone of the person's days.
    pub fn zone(&self) -> &TimeZone {
        self.zone.get_or_init(clock::system_zone)
    }

    /// The folder of the vault, with links resolved.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The notes that the vault is a part of, with links resolved.
    pub fn notes(&self) -> &Path {
        &self.notes
    }

    /// Which notes outside the vault folder may be read for recall.
    pub fn readable(&self) -> &ReadNotes {
        self.places.readable()
    }

    /// The name of the vault folder, as links inside the notes spell it.
    pub fn folder_name(&self) -> String {
        self.folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn root(&self, root: Root) -> &Path {
        match root {
            Root::Vault => &self.folder,
            Root::Notes => &self.notes,
            Root::Identity => &self.identity,
        }
    }

    /// The file a place means, links followed as far as they stay inside. An identity file may be a link to wherever the
    /// person keeps it (IDN-02).
    pub fn file(&self, place: &Place) -> Result<PathBuf, Error> {
        if place.root == Root::Identity {
            return door::follow(&self.identity, &place.path);
        }
        door::resolve(self.root(place.root), &place.path)
    }

    /// Reads a note; `None` if there is none.
    pub fn read(&self, place: &Place) -> Result<Option<NoteText>, Error> {
        let file = self.file(place)?;
        match disk::read(&file, MAX_NOTE_BYTES).map_err(Error::io("read", &file))? {
            Content::Missing => Ok(None),
            Content::NotAFile => Err(Error::NotAFile(file)),
            Content::TooLarge(bytes) => {
                Err(Error::TooLarge { what: place.to_string(), bytes, limit: MAX_NOTE_BYTES })
            }
            Content::Bytes(bytes) => {
                let hash = ContentHash::of(&bytes);
                Ok(Some(NoteText { text: text(&place.to_string(), bytes)?, hash }))
            }
        }
    }

    /// Reads a note of the vault that has to be there.
    pub fn read_entry(&self, path: &VaultPath) -> Result<NoteText, Error> {
        self.read(&Place::vault(path.clone()))?.ok_or_else(|| Error::NotFound(path.to_string()))
    }

    /// What was forgotten in this vault.
    pub fn graveyard(&self) -> Result<Graveyard, Error> {
        let stones = self.read(&Place::vault(layout::fixed(layout::TOMBSTONES)))?;
        Ok(stones.map(|note| Graveyard::parse(&note.text)).unwrap_or_default())
    }

    /// The changes made to this vault on this machine, the newest first.
    pub fn changes(&self) -> Result<impl Iterator<Item = Result<Record, Error>>, Error> {
        journal::changes(&self.places.journal())
    }
}

/// Bytes as text, or the line where they stop being one.
pub fn text(what: &str, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        Error::NotText { what: what.to_owned(), line }
    })
}
