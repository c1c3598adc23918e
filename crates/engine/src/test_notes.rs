//! For tests: notes on a real disk, in a home of their own.

use std::path::Path;

use rekindle_core::base::time::TimeZone;
use rekindle_core::config::{ConfigLayers, load};

use crate::platform::disk;
use crate::platform::home::{DataPaths, HomeFolder};
use crate::vault::Vault;

/// The notes; they are gone with it.
pub(crate) struct TestNotes {
    _folder: tempfile::TempDir,
    pub(crate) places: DataPaths,
    pub(crate) vault: Vault,
}

/// A home in which every note may be read.
pub(crate) fn paths_in(folder: &Path) -> DataPaths {
    let flags = [("recall.notes".to_owned(), "all".to_owned())];
    let settings =
        load(&ConfigLayers { flags: &flags, variables: &|_| None, project: None, user: None }).unwrap();
    HomeFolder::find_with(Some(folder), None, None).unwrap().data_paths(&settings.config).unwrap()
}

impl TestNotes {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = paths_in(folder.path());
        for folder in [places.vault(), places.state()] {
            disk::create_private_folder(folder).unwrap();
        }
        let vault = Vault::open(&places).unwrap().in_zone(TimeZone::UTC);
        Self { _folder: folder, places, vault }
    }

    /// As an editor would.
    #[expect(clippy::disallowed_methods, reason = "a person's editor writes as it likes")]
    pub(crate) fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let file = self.places.notes().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, bytes).unwrap();
    }
}
