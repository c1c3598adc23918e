//! Remembers notes between walks, so that a program that runs for a while reads only those that changed.
//!
//! A note counts as unchanged while its file has the same inode number, size and times. A file that was written to within
//! the resolution of its times could change again without a trace, so a note is remembered only once it has rested.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use super::VaultScan;
use super::scan::ScannedEntry;
use crate::platform::disk::FileIdentity;

/// The time that a file must have rested before it is remembered, far above the resolution of any file system.
const REST: Duration = Duration::from_secs(3);

/// The notes of earlier walks.
type KnownNotes = HashMap<PathBuf, KnownNote>;

#[derive(Clone, Debug)]
struct KnownNote {
    identity: FileIdentity,
    found: ScannedEntry,
}

/// A cache of listings. Clones share the notes.
#[derive(Clone, Debug, Default)]
pub struct ScanCache {
    notes: Arc<Mutex<Arc<KnownNotes>>>,
    /// The walk that all listings share; `None` if each walks anew.
    shared: Option<Arc<OnceLock<VaultScan>>>,
}

/// The state of the cache during one walk.
pub(super) struct KnownScan {
    notes: Arc<KnownNotes>,
    now: Timestamp,
}

/// A note of a walk: known from an earlier one, or to be remembered.
pub(super) struct SeenNote {
    file: PathBuf,
    identity: FileIdentity,
    found: ScannedEntry,
    is_new: bool,
}

impl ScanCache {
    /// A cache for one request: all its listings come from one walk, as long as it changes nothing.
    #[must_use]
    pub fn for_one_request(&self) -> Self {
        Self { notes: Arc::clone(&self.notes), shared: Some(Arc::default()) }
    }

    /// The same cache, with a walk for each listing.
    #[must_use]
    pub fn unshared(&self) -> Self {
        Self { notes: Arc::clone(&self.notes), shared: None }
    }

    /// The listing that this request has made already.
    pub(super) fn shared_scan(&self) -> Option<&VaultScan> {
        self.shared.as_ref()?.get()
    }

    pub(super) fn share(&self, scan: &VaultScan) {
        if let Some(shared) = &self.shared {
            // Another listing of the same request may have been faster.
            shared.get_or_init(|| scan.clone());
        }
    }

    pub(super) fn known(&self, now: Timestamp) -> KnownScan {
        let notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        KnownScan { notes: Arc::clone(&notes), now }
    }

    /// Replaces what is known by what a walk saw.
    pub(super) fn learn(&self, known: &KnownScan, seen: Vec<SeenNote>) {
        if seen.len() == known.notes.len() && seen.iter().all(|note| !note.is_new) {
            return;
        }
        let notes = seen
            .into_iter()
            .map(|SeenNote { file, identity, found, .. }| (file, KnownNote { identity, found }))
            .collect();
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(notes);
    }
}

impl KnownScan {
    /// The note, if its file has not changed.
    pub(super) fn note(&self, file: &Path, identity: FileIdentity) -> Option<SeenNote> {
        let known = self.notes.get(file).filter(|known| known.identity == identity)?;
        Some(SeenNote { file: file.to_owned(), identity, found: known.found.clone(), is_new: false })
    }

    /// A note that was just read, if it may be remembered. `identity` is from before the read.
    pub(super) fn remember(
        &self,
        file: &Path,
        identity: FileIdentity,
        found: &ScannedEntry,
    ) -> Option<SeenNote> {
        let changed = Timestamp::try_from(identity.last_change()?).ok()?;
        let rested = self.now.duration_since(changed).unsigned_abs() >= REST && changed < self.now;
        rested.then(|| SeenNote { file: file.to_owned(), identity, found: found.clone(), is_new: true })
    }
}

impl SeenNote {
    pub(super) fn found(&self) -> ScannedEntry {
        self.found.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_notes::TestNotes;

    #[test]
    fn b_11_a_listing_from_the_cache_is_that_of_a_walk() {
        let notes = TestNotes::new();
        let folder = notes.vault.folder().to_owned();
        let below = folder.strip_prefix(notes.places.notes().canonicalize().unwrap()).unwrap().to_owned();
        let name = |slug: &str| below.join(format!("personal-private/fix/{slug}.md"));
        let write = |slug: &str, text: &str| {
            notes.write(name(slug).to_str().unwrap(), text);
            let file = notes.places.notes().join(name(slug));
            let old = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
            std::fs::File::options().write(true).open(file).unwrap().set_modified(old).unwrap();
        };
        write("a", "one\n");
        write("b", "two\n");
        write("broken", "---\nkind: [\n---\n\nx\n");
        let cache = ScanCache::default();
        let cached = crate::vault::Vault::open(&notes.places).unwrap().with_scan_cache(cache.clone());
        let same = || {
            for archive in [false, true] {
                let (plain, quick) = (notes.vault.scan(archive).unwrap(), cached.scan(archive).unwrap());
                assert_eq!(format!("{plain:?}"), format!("{quick:?}"));
            }
        };
        same();
        write("a", "new\n");
        write("c", "three\n");
        crate::platform::disk::remove(&notes.places.notes().join(name("b"))).unwrap();
        same();
        let known = cache.known(Timestamp::from_second(4_000_000_000).unwrap());
        assert!(known.notes.is_empty(), "the change time of each is of this moment");
        std::thread::sleep(REST + Duration::from_millis(200));
        same();
        assert_eq!(cache.notes.lock().unwrap().len(), 2, "a broken note is read each time");
        // The same length and the same time of writing: the change time tells.
        write("a", "NEW\n");
        same();
        // One request sees one walk, the next one the change.
        let request = cache.for_one_request();
        let vault = || crate::vault::Vault::open(&notes.places).unwrap().with_scan_cache(request.clone());
        assert_eq!(vault().scan(false).unwrap().entries.len(), 2);
        write("d", "four\n");
        assert_eq!(vault().scan(false).unwrap().entries.len(), 2);
        assert_eq!(cached.scan(false).unwrap().entries.len(), 3);
    }
}
