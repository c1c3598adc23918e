//! Creates the home of `rekindle init`. It is idempotent: existing files stay as they are.

use std::path::{Path, PathBuf};

use rekindle_core::base::time::Zoned;
use rekindle_core::vault::identity::DOCUMENTS;
use rekindle_core::vault::journal::{ChangeActor, ChangeRoot, ChangedFile, WritePermission};
use rekindle_core::vault::path::VaultPath;
use rekindle_core::vault::review::{self, ReviewPage};
use rekindle_core::vault::{layout, memory};

use crate::config;
use crate::platform::disk;
use crate::platform::home::{self, DataPaths, HomeFolder};
use crate::vault::{self, ChangeDraft, FileWrite, Vault};

/// The reason a home could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The named folder of notes does not exist.
    #[error("no such folder: {}; create it first, or omit --notes", .0.display())]
    NoNotes(PathBuf),
    /// The settings could not be read or written.
    #[error(transparent)]
    Config(#[from] config::Error),
    /// A folder of the home could not be created.
    #[error(transparent)]
    Home(#[from] home::Error),
    /// The vault could not be opened or written.
    #[error(transparent)]
    Vault(#[from] vault::Error),
}

/// One item of the home.
#[derive(Clone, Debug)]
pub struct SetupItem {
    /// The description of the item.
    pub description: &'static str,
    /// The path of the item.
    pub path: PathBuf,
    /// True if this call created it.
    pub created: bool,
}

/// The choices of the person; a missing choice leaves the setting as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct SetupChoices<'a> {
    /// The name that agents call the person.
    pub name: Option<&'a str>,
    /// The folder of their notes.
    pub notes: Option<&'a Path>,
    /// The notes that may be read, as `recall.notes` takes it.
    pub read: Option<&'a str>,
}

/// Creates every missing item.
pub fn init(home: &HomeFolder, choices: SetupChoices<'_>, now: &Zoned) -> Result<Vec<SetupItem>, Error> {
    let SetupChoices { name, notes, read } = choices;
    if let Some(folder) = notes.filter(|folder| !folder.is_dir()) {
        return Err(Error::NoNotes(folder.to_owned()));
    }
    let config_file = home.config_file();
    let new_config = !config_file.exists();
    let notes_text = notes.map(|folder| folder.to_string_lossy().into_owned());
    if new_config {
        let text = config::user_file(name.unwrap_or_default(), notes_text.as_deref())?;
        disk::write_atomic(&config_file, text.as_bytes()).map_err(vault::Error::io("write", &config_file))?;
    } else {
        for (key, value) in [("user.name", name), ("vault.notes", notes_text.as_deref())] {
            if let Some(value) = value {
                config::set(home, key, value)?;
            }
        }
    }
    if let Some(read) = read {
        config::set(home, "recall.notes", read)?;
    }
    let loaded = config::read(home, None, &[])?;
    let places = home.data_paths(&loaded.config)?;

    let mut items = vec![SetupItem { description: "settings", path: config_file, created: new_config }];
    items.extend(create_folders(&places, &loaded.config.user.name, now)?);
    Ok(items)
}

/// Creates the missing folders and documents of a home, for the person of this name. The settings stay as they
/// are.
pub fn create_folders(places: &DataPaths, name: &str, now: &Zoned) -> Result<Vec<SetupItem>, Error> {
    let mut items = vec![folder("state", places.state())?];
    for part in [places.locks_folder(), places.spool_folder(), places.sessions(), places.logs_folder()] {
        folder("state", &part)?;
    }
    items.push(folder("vault", places.vault())?);
    for part in layout::FOLDERS {
        folder("vault", &places.vault().join(part))?;
    }
    items.push(folder("identity", places.identity())?);
    items.extend(documents(places, name, now)?);
    Ok(items)
}

fn folder(what: &'static str, path: &Path) -> Result<SetupItem, Error> {
    let made = !path.exists();
    disk::create_private_folder(path).map_err(vault::Error::io("make", path))?;
    Ok(SetupItem { description: what, path: path.to_owned(), created: made })
}

/// Creates the documents of a new vault and the starters of the identity.
fn documents(places: &DataPaths, name: &str, now: &Zoned) -> Result<Vec<SetupItem>, Error> {
    let vault = Vault::open(places)?;
    let (mut items, mut writes) = (Vec::new(), Vec::new());
    let mut begin = |what, place: ChangedFile, text: String| -> Result<(), vault::Error> {
        let path = vault.file(&place)?;
        let made = !disk::name_exists(&path).map_err(vault::Error::io("read", &path))?;
        items.push(SetupItem { description: what, path, created: made });
        if made {
            writes.push(FileWrite::Create { place, text });
        }
        Ok(())
    };
    begin("memory", ChangedFile::vault(layout::fixed_path(layout::MEMORY)), memory::render_new(name))?;
    let queue = ReviewPage {
        reviewer: name.to_owned(),
        date: now.date(),
        updated: now.timestamp(),
        proposals: Vec::new(),
        later: 0,
    };
    begin("review", ChangedFile::vault(layout::fixed_path(layout::REVIEW)), review::render(&queue))?;
    for document in DOCUMENTS {
        let path = VaultPath::parse(document.name).map_err(vault::Error::from)?;
        begin("identity", ChangedFile { root: ChangeRoot::Identity, path }, document.starter.to_owned())?;
    }
    let draft = ChangeDraft {
        permission: Some(WritePermission::Asked),
        ..ChangeDraft::new("init", ChangeActor::User, writes)
    };
    vault.writer(now)?.commit(draft)?;
    Ok(items)
}
