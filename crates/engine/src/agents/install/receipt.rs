//! Receipts: the state of settings before our first install. They record structure only, never content.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rekindle_core::hosts::install::settings;
use rekindle_core::hosts::install::settings::EmptyContainers;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::platform::disk::{self, FileContent};

const MAX_RECEIPTS_BYTES: u64 = 1024 * 1024;

/// The state of a file before we changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum FileOrigin {
    /// The file had content, or its state is unknown.
    #[default]
    Present,
    /// The file existed with only this white space.
    Blank(String),
    /// The file did not exist.
    Absent,
}

/// The state to restore when our hooks are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct InstallReceipt {
    pub(super) origin: FileOrigin,
    /// The places that existed and were empty.
    pub(super) blanks: EmptyContainers,
    /// The folders that were created for the file, outermost first.
    pub(super) folders: Vec<PathBuf>,
}

impl InstallReceipt {
    /// Creates the receipt of a file before its first change.
    pub(super) fn new(text: Option<&str>, path: &Path) -> Self {
        let origin = match text {
            None => FileOrigin::Absent,
            Some(text) if settings::is_blank(text) => FileOrigin::Blank(text.to_owned()),
            Some(_) => FileOrigin::Present,
        };
        let parents = path.ancestors().skip(1).take_while(|folder| !folder.exists());
        let mut folders: Vec<PathBuf> = parents.map(Path::to_owned).collect();
        folders.reverse();
        Self { origin, blanks: EmptyContainers::new(), folders }
    }

    /// The text of a JSON file after our part is removed; `None` if the file did not exist before.
    pub(super) fn remaining_text(&self, after: String) -> Option<String> {
        match (&self.origin, settings::is_empty_object(&after)) {
            (FileOrigin::Absent, true) => None,
            (FileOrigin::Blank(text), true) => Some(text.clone()),
            _ => Some(after),
        }
    }
}

/// The receipts of all files, by path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct InstallReceipts(BTreeMap<PathBuf, InstallReceipt>);

impl InstallReceipts {
    /// Loads the receipts. A missing or damaged file counts as none: uninstalling then relies on the settings
    /// alone.
    pub(super) fn load(path: &Path) -> Result<Self, Error> {
        match disk::read(path, MAX_RECEIPTS_BYTES).map_err(Error::io("read", path))? {
            FileContent::Bytes(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            _ => Ok(Self::default()),
        }
    }

    pub(super) fn get(&self, path: &Path) -> Option<&InstallReceipt> {
        self.0.get(path)
    }

    pub(super) fn set(&mut self, path: &Path, receipt: InstallReceipt) {
        self.0.insert(path.to_owned(), receipt);
    }

    pub(super) fn remove(&mut self, path: &Path) {
        self.0.remove(path);
    }

    pub(super) fn save(&self, path: &Path) -> Result<(), Error> {
        if self.0.is_empty() {
            return disk::remove(path).map_err(Error::io("remove", path));
        }
        let text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from);
        text.and_then(|text| disk::write_atomic(path, &text)).map_err(Error::io("write", path))
    }
}
