//! All stores of text, and the way to erase text from each.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rekindle_core::recall::document::FileStamp;
use rekindle_core::vault::erase::ErasureTarget;
use rekindle_core::vault::frontmatter::ParsedNote;
use rekindle_core::vault::journal::{ChangeRoot, ChangedFile, FileOperation};
use rekindle_core::vault::layout::{self, VaultShelf};
use rekindle_core::vault::path::VaultPath;

use super::PendingForget;
use super::database::ErasableDatabase;
use super::erasable_store::ErasableStore;
use super::servers::ErasableServers;
use crate::index::{ErasureScope, RecallIndex};
use crate::ops::backup::restore::{UNPACKED_FOLDER, any_file_matches, safety_copies};
use crate::platform::disk::{self, TEMPORARY_PREFIX};
use crate::platform::home::DataPaths;
use crate::recall::messages::MessageStore;
use crate::recall::usage::UsageSummary;
use crate::vault::scan::all_files;
use crate::vault::{Error, MAX_NOTE_BYTES, Vault, journal, sources};

const VAULT_STORE: &str = "vault";
const MESSAGES_STORE: &str = "messages";
/// The stores that hold the words of users and agents unchanged.
pub(super) const VERBATIM_STORES: [&str; 2] = [VAULT_STORE, MESSAGES_STORE];

/// The minimum number of files per thread. Fewer are read before a thread has started.
const MIN_FILES_PER_THREAD: usize = 500;
/// A file that was changed this much before a search may have changed after it: not every file system has finer times.
const CLOCK_GRANULARITY: Duration = Duration::from_secs(2);

/// All stores. A store missing here would make `forget` report a false success.
pub(super) fn all_stores(vault: &Vault) -> Vec<Box<dyn ErasableStore + '_>> {
    vec![
        Box::new(ErasableDocuments::new(vault)),
        Box::new(ErasableJournal { path: vault.places.journal_file() }),
        Box::new(ErasableJsonFolder { name: "spool", folder: vault.places.spool_folder() }),
        Box::new(ErasableJsonFolder { name: "logs", folder: vault.places.logs_folder() }),
        Box::new(ErasableJsonFolder { name: "sessions", folder: vault.places.sessions() }),
        Box::new(ErasableJsonFolder { name: "editing", folder: vault.places.editing_folder() }),
        Box::new(ErasableJsonFolder { name: "patches", folder: vault.places.patches_folder() }),
        Box::new(ErasableJsonFolder { name: "proposals", folder: vault.places.proposals_folder() }),
        Box::new(ErasableJsonFolder { name: "notices", folder: vault.places.notices_file() }),
        Box::new(ErasableBackups { places: &vault.places }),
        Box::new(ErasableDamagedDatabases { path: vault.places.database() }),
        Box::new(ErasableDatabase { path: vault.places.database() }),
        Box::new(ErasableUsage { vault }),
        Box::new(ErasableMessages { messages: MessageStore::from_paths(&vault.places) }),
        Box::new(ErasableServers { database: vault.places.database() }),
        Box::new(ErasableIndex { vault, index: RecallIndex::in_folder(vault.places.index()) }),
    ]
}

/// Markdown and other files in the vault, and `Ideas.md`.
struct ErasableDocuments<'a> {
    vault: &'a Vault,
    /// The files that held the text, once they were searched.
    searched: OnceCell<Vec<PathBuf>>,
}

impl<'a> ErasableDocuments<'a> {
    fn new(vault: &'a Vault) -> Self {
        Self { vault, searched: OnceCell::new() }
    }

    /// The files to search: all of them, or after [`ErasableStore::erase`] those that held the text and those that may
    /// have changed since. Reading a hundred thousand files takes most of the time of a forget.
    fn unsearched(&self) -> Result<Vec<PathBuf>, Error> {
        let files = self.files()?;
        let Some(held) = self.searched.get() else { return Ok(files) };
        let tombstones = self.vault.folder().join(layout::TOMBSTONES);
        // The tombstones are in the same file system, whose clock may differ from ours, and they were written before
        // the files were searched.
        let Some(start) = disk::change_time(&tombstones).map(|at| at - CLOCK_GRANULARITY) else {
            return Ok(files);
        };
        in_parallel(files, &|file, _| {
            Ok(held.iter().any(|known| known == file)
                || disk::change_time(file).is_none_or(|changed| changed >= start))
        })
    }
}

impl ErasableStore for ErasableDocuments<'_> {
    fn name(&self) -> &'static str {
        VAULT_STORE
    }

    fn erase(&self, going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let gone: Vec<_> = going.files.iter().cloned().collect();
        let mut erased = self.vault.forget_in_generated_notes(&gone)?;
        let mut files = self.files()?;
        files.retain(|file| !self.vault.goes_whole(going, file));
        let held = holding(files, target)?;
        for file in self.searched.get_or_init(|| held) {
            erased += 1;
            let is_temporary = file
                .file_name()
                .is_some_and(|n| n.as_encoded_bytes().starts_with(TEMPORARY_PREFIX.as_bytes()));
            let emptied = is_temporary || {
                let json = file.extension().is_some_and(|extension| extension == "jsonl");
                let cut = |text: &str| {
                    if json { target.remove_json_blocks(text) } else { target.remove_blocks(text) }
                };
                cut_file(file, cut)?.is_some_and(|left| self.says_nothing(file, &left))
            };
            if emptied {
                disk::shred(file).map_err(Error::io("remove", file))?;
            }
        }
        Ok(erased)
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        holding(self.unsearched()?, target)
    }
}

impl ErasableDocuments<'_> {
    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        let mut files = all_files(self.vault.folder()).map_err(Error::io("read", self.vault.folder()))?;
        let ideas = ChangedFile { root: ChangeRoot::Notes, path: layout::fixed_path(layout::IDEAS) };
        files.extend(self.vault.file(&ideas).ok().filter(|file| file.is_file()));
        Ok(files)
    }

    /// True for an entry that has no other content: it is deleted. Any other document stays, however short.
    fn says_nothing(&self, file: &Path, left: &str) -> bool {
        let is_entry =
            self.vault.vault_path(file).is_some_and(|path| layout::shelf_of(&path) != VaultShelf::Other);
        is_entry && ParsedNote::parse(left).is_ok_and(|note| note.body().trim().is_empty())
    }
}

/// The journal of changes: it holds ranges of text, and names that reveal it.
struct ErasableJournal {
    path: PathBuf,
}

impl ErasableStore for ErasableJournal {
    fn name(&self) -> &'static str {
        "journal"
    }

    fn erase(&self, going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        journal::rewrite(&self.path, |change| {
            let mut altered = false;
            for op in &mut change.ops {
                let is_ours = |place: &ChangedFile| {
                    place.root == ChangeRoot::Vault && going.files.contains(&place.path)
                };
                if op.changed_files().any(is_ours) {
                    *op = FileOperation::Forgotten;
                    altered = true;
                } else if op.any_text(|text| target.matches_text(text) || target.matches_fragment(text)) {
                    op.forget_text();
                    altered = true;
                }
            }
            altered
        })
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        holding(vec![self.path.clone()], target)
    }
}

/// The usage counts of memories: their names may be those of files.
struct ErasableUsage<'a> {
    vault: &'a Vault,
}

impl ErasableStore for ErasableUsage<'_> {
    fn name(&self) -> &'static str {
        "usage"
    }

    fn erase(&self, going: &PendingForget, _target: &ErasureTarget) -> Result<usize, Error> {
        let files: Vec<String> =
            going.files.iter().map(|path| format!("{}/{path}", self.vault.folder_name())).collect();
        let goes = |id: &str| files.iter().any(|file| id.strip_prefix(file.as_str()).is_some_and(is_end));
        let path = self.vault.places.usage();
        UsageSummary::erase(&path, goes).map_err(Error::io("change", &path))
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        holding(vec![self.vault.places.usage()], target)
    }
}

/// True if a name ends here or continues with the anchor in the file.
fn is_end(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('#')
}

/// The messages of sessions, and their index.
struct ErasableMessages {
    messages: MessageStore,
}

impl ErasableStore for ErasableMessages {
    fn name(&self) -> &'static str {
        MESSAGES_STORE
    }

    fn erase(&self, _going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        self.messages.erase(target).map_err(|error| Error::Messages(error.into()))
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        self.messages.files_with(target).map_err(|error| Error::Messages(error.into()))
    }
}

/// The index: texts as they were when indexed, and their embeddings.
struct ErasableIndex<'a> {
    vault: &'a Vault,
    index: RecallIndex,
}

impl ErasableIndex<'_> {
    /// True if a file of the vault is not the one that was indexed. `forget` does not change other files.
    fn is_changed(&self, path: &str, stamp: &FileStamp) -> bool {
        let inside = path.strip_prefix(&self.vault.folder_name()).and_then(|path| path.strip_prefix('/'));
        inside.is_some_and(|path| !sources::has_stamp(&self.vault.folder().join(path), stamp))
    }
}

impl ErasableStore for ErasableIndex<'_> {
    fn name(&self) -> &'static str {
        "index"
    }

    fn erase(&self, going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let name = |path: &VaultPath| format!("{}/{path}", self.vault.folder_name());
        let paths = going.files.iter().map(name).collect();
        let scope =
            ErasureScope { paths: &paths, target, is_changed: &|path, stamp| self.is_changed(path, stamp) };
        self.index.erase(&scope).map_err(Error::Index)
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        let paths = BTreeSet::new();
        let scope =
            ErasureScope { paths: &paths, target, is_changed: &|path, stamp| self.is_changed(path, stamp) };
        Ok(self.index.files_with(&scope))
    }
}

/// The copies that restores made of what they replaced. A copy with the text is removed whole.
struct ErasableBackups<'a> {
    places: &'a DataPaths,
}

impl ErasableStore for ErasableBackups<'_> {
    fn name(&self) -> &'static str {
        "backups"
    }

    fn erase(&self, _going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let copies = self.files_with(target)?;
        for copy in &copies {
            disk::shred(copy).map_err(Error::io("remove", copy))?;
        }
        Ok(copies.len())
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        if target.is_empty() {
            return Ok(Vec::new());
        }
        let folder = self.places.backups_folder();
        // What a killed restore left unpacked are plain files.
        let mut files = match all_files(&folder.join(UNPACKED_FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            files => files.map_err(Error::io("read", &folder))?,
        };
        files.extend(safety_copies(self.places).map_err(Error::io("read", &folder))?);
        files.retain(|file| match file.extension() {
            Some(_) => any_file_matches(file, |bytes| target.matches_file(bytes)),
            None => std::fs::read(file).is_ok_and(|bytes| target.matches_file(&bytes)),
        });
        Ok(files)
    }
}

/// The damaged databases that `doctor --fix` kept aside. One with the text is removed whole: nothing else can be done
/// to a damaged file.
struct ErasableDamagedDatabases {
    path: PathBuf,
}

impl ErasableStore for ErasableDamagedDatabases {
    fn name(&self) -> &'static str {
        "damaged databases"
    }

    fn erase(&self, _going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let copies = self.files_with(target)?;
        for copy in &copies {
            disk::shred(copy).map_err(Error::io("remove", copy))?;
        }
        Ok(copies.len())
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        let (Some(folder), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return Ok(Vec::new());
        };
        let prefix = format!("{}.damaged-", name.to_string_lossy());
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(Error::io("read", folder))?,
        };
        let files = entries.filter_map(|entry| Some(entry.ok()?.path()));
        let is_aside = |file: &PathBuf| {
            file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
        };
        let holds = |file: &PathBuf| {
            std::fs::read(file).is_ok_and(|bytes| {
                target.matches_file(&bytes) || target.matches_file(&without_page_links(&bytes))
            })
        };
        Ok(files.filter(is_aside).filter(holds).collect())
    }
}

/// The bytes of a database without the link to the next page at the beginning of each page, which stands in the middle
/// of a long text.
fn without_page_links(bytes: &[u8]) -> Vec<u8> {
    const PAGE_BYTES: usize = 4096;
    const LINK_BYTES: usize = 4;
    bytes.chunks(PAGE_BYTES).flat_map(|page| page.iter().skip(LINK_BYTES)).copied().collect()
}

/// Folders of JSON, JSON lines or plain text: the spool, the logs, edits in progress.
struct ErasableJsonFolder {
    name: &'static str,
    folder: PathBuf,
}

impl ErasableJsonFolder {
    fn files(&self) -> Result<Vec<PathBuf>, Error> {
        match all_files(&self.folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(Error::io("read", &self.folder)),
        }
    }
}

impl ErasableStore for ErasableJsonFolder {
    fn name(&self) -> &'static str {
        self.name
    }

    fn erase(&self, _going: &PendingForget, target: &ErasureTarget) -> Result<usize, Error> {
        let mut erased = 0;
        for file in holding(self.files()?, target)? {
            erased += 1;
            // A line that is not JSON has no structure to preserve.
            cut_file(&file, |text| {
                let json = target.remove_json_blocks(text);
                let text = json.as_deref().unwrap_or(text);
                target.remove_blocks(text).or_else(|| json.clone())
            })?;
        }
        Ok(erased)
    }

    fn files_with(&self, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
        holding(self.files()?, target)
    }
}

/// The files that contain the target.
pub(super) fn holding(files: Vec<PathBuf>, target: &ErasureTarget) -> Result<Vec<PathBuf>, Error> {
    if target.is_empty() {
        return Ok(Vec::new());
    }
    in_parallel(files, &|file, buffer| {
        // A larger file cannot be ours; it is the user's own.
        let length = disk::read_into(file, MAX_NOTE_BYTES, buffer).map_err(Error::io("read", file))?;
        Ok(length.is_some_and(|length| target.matches_file(&buffer[..length])))
    })
}

/// The files that pass a test, which gets a buffer for their bytes.
fn in_parallel(
    files: Vec<PathBuf>,
    is_wanted: &(impl Fn(&Path, &mut Vec<u8>) -> Result<bool, Error> + Sync),
) -> Result<Vec<PathBuf>, Error> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(MIN_FILES_PER_THREAD);
    let search = |files: &[PathBuf]| {
        let mut bytes = Vec::new();
        files.iter().map(|file| is_wanted(file, &mut bytes)).collect::<Result<Vec<bool>, Error>>()
    };
    let mut shares = files.chunks(share);
    let first = shares.next().unwrap_or_default();
    let wanted = std::thread::scope(|scope| {
        let others: Vec<_> = shares.map(|files| scope.spawn(move || search(files))).collect();
        let mut wanted = search(first)?;
        for other in others {
            wanted.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
        }
        Ok::<_, Error>(wanted)
    })?;
    Ok(files.into_iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(file, _)| file).collect())
}

/// Replaces a file with the result of `cut`, and returns that. A concurrent edit wins: its version is put
/// back and cut in turn.
fn cut_file(file: &Path, cut: impl Fn(&str) -> Option<String>) -> Result<Option<String>, Error> {
    let writing = |error| Error::io("write", file)(error);
    loop {
        let bytes = std::fs::read(file).map_err(Error::io("read", file))?;
        let Some(left) = std::str::from_utf8(&bytes).ok().and_then(&cut) else { return Ok(None) };
        if disk::replace_shredding(file, &bytes, left.as_bytes()).map_err(writing)? {
            return Ok(Some(left));
        }
    }
}
