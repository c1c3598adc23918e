//! What was there before us. Only shapes, never what the settings say.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rekindle_core::hosts::install::settings;
use rekindle_core::hosts::install::settings::Blanks;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::platform::disk::{self, Content};

const LARGEST: u64 = 1024 * 1024;

/// What a file was before we changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Origin {
    /// There, with something in it; or nobody knows.
    #[default]
    Present,
    /// There, with this white space in it.
    Blank(String),
    /// Not there.
    Absent,
}

/// What has to be left behind when our hooks go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Receipt {
    pub(super) origin: Origin,
    /// Places that were there and empty.
    pub(super) blanks: Blanks,
    /// Folders that were made for the file, the outermost first.
    pub(super) folders: Vec<PathBuf>,
}

impl Receipt {
    /// For a file that is about to be changed for the first time.
    pub(super) fn new(text: Option<&str>, path: &Path) -> Self {
        let origin = match text {
            None => Origin::Absent,
            Some(text) if settings::is_blank(text) => Origin::Blank(text.to_owned()),
            Some(_) => Origin::Present,
        };
        let parents = path.ancestors().skip(1).take_while(|folder| !folder.exists());
        let mut folders: Vec<PathBuf> = parents.map(Path::to_owned).collect();
        folders.reverse();
        Self { origin, blanks: Blanks::new(), folders }
    }

    /// What is left of a file of JSON when ours is out of it: nothing, where there was nothing before.
    pub(super) fn left(&self, after: String) -> Option<String> {
        match (&self.origin, settings::is_empty_object(&after)) {
            (Origin::Absent, true) => None,
            (Origin::Blank(text), true) => Some(text.clone()),
            _ => Some(after),
        }
    }
}

/// The receipts of all files, by their paths.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Receipts(BTreeMap<PathBuf, Receipt>);

impl Receipts {
    /// A file that is lost or damaged counts as none: leaving then tidies up by what it sees.
    pub(super) fn load(path: &Path) -> Result<Self, Error> {
        match disk::read(path, LARGEST).map_err(Error::io("read", path))? {
            Content::Bytes(bytes) => Ok(serde_json::from_slice(&bytes).unwrap_or_default()),
            _ => Ok(Self::default()),
        }
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Receipt> {
        self.0.get(path)
    }

    pub(super) fn set(&mut self, path: &Path, receipt: Receipt) {
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
        text.and_then(|text| disk::write_whole(path, &text)).map_err(Error::io("write", path))
    }
}
