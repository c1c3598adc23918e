//! The page of a week (O11-16).

use std::path::PathBuf;

use rekindle_core::base::time::{Date, Zoned};
use rekindle_core::vault::journal::{ChangeActor, ChangedFile};
use rekindle_core::vault::layout;

use super::{ChangeDraft, Error, FileWrite, Vault};

/// The verb of the change in the journal.
const WEEK_VERB: &str = "week";

impl Vault {
    /// The file of the page of the week that ends with a day.
    pub fn week_page(&self, last: Date) -> Result<PathBuf, Error> {
        self.file(&ChangedFile::vault(layout::week_page(last)))
    }

    /// Writes the page of a week, or replaces it.
    pub fn write_week_page(&self, last: Date, text: &str, by: ChangeActor, now: &Zoned) -> Result<(), Error> {
        let place = ChangedFile::vault(layout::week_page(last));
        let mut writer = self.writer(now)?;
        let read = self.read(&place)?;
        let write = FileWrite::create_or_replace(place, read, text.to_owned());
        writer.commit(ChangeDraft::new(WEEK_VERB, by, vec![write])).map(drop)
    }
}
