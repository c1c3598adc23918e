//! Writes the derived notes for note apps: the home note, its table, and a note for each project.
//!
//! They are rebuilt from the memories, so the journal does not have them and `undo` passes them by. What the person
//! writes in them is kept: around our part in place, inside of it in a copy.

use std::path::{Path, PathBuf};

use rekindle_core::base::time::Zoned;
use rekindle_core::vault::generated_note::{GeneratedMerge, GeneratedNote, without_lines};
use rekindle_core::vault::journal::ChangedFile;
use rekindle_core::vault::layout;
use rekindle_core::vault::path::VaultPath;

use super::scan::walk_files;
use super::{Error, Vault};
use crate::platform::disk;

/// The outcome of writing one derived note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GeneratedNoteOutcome {
    /// It was as it should be.
    Unchanged,
    /// It was written.
    Written,
    /// It was written, and the person's version with changes inside of our part is in this copy.
    Copied(PathBuf),
    /// A note of the person has this name, so nothing was written.
    Theirs,
    /// Another program wrote it at the same time; the next time will do.
    Busy,
}

impl Vault {
    /// Writes one derived note.
    pub fn write_generated_note(
        &self,
        path: &VaultPath,
        note: &GeneratedNote,
        now: &Zoned,
    ) -> Result<GeneratedNoteOutcome, Error> {
        let place = ChangedFile::vault(path.clone());
        let file = self.file(&place)?;
        let _writer = self.writer(now)?;
        let read = self.read(&place)?;
        let (text, was_edited) = match note.merge(read.as_ref().map(|read| read.text.as_str())) {
            GeneratedMerge::Unchanged => return Ok(GeneratedNoteOutcome::Unchanged),
            GeneratedMerge::Theirs => return Ok(GeneratedNoteOutcome::Theirs),
            GeneratedMerge::Write { text, was_edited } => (text, was_edited),
        };
        let Some(old) = read else {
            return match disk::write_new(&file, text.as_bytes()) {
                Ok(()) => Ok(GeneratedNoteOutcome::Written),
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                    Ok(GeneratedNoteOutcome::Busy)
                }
                Err(error) => Err(Error::io("write", &file)(error)),
            };
        };
        let copy = if was_edited { Some(self.keep_copy(path, &old.text, now)?) } else { None };
        match disk::replace_unchanged(&file, old.text.as_bytes(), text.as_bytes()) {
            Ok(true) => Ok(copy.map_or(GeneratedNoteOutcome::Written, GeneratedNoteOutcome::Copied)),
            Ok(false) => Ok(GeneratedNoteOutcome::Busy),
            Err(error) => Err(Error::io("write", &file)(error)),
        }
    }

    /// Writes the table for Obsidian beside a new home note. An existing one is the person's.
    pub fn write_home_base(&self, text: &str, now: &Zoned) -> Result<bool, Error> {
        let file = self.file(&ChangedFile::vault(layout::fixed_path(layout::HOME_BASE)))?;
        let _writer = self.writer(now)?;
        match disk::write_new(&file, text.as_bytes()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(Error::io("write", &file)(error)),
        }
    }

    /// True if the home note exists, whoever wrote it.
    pub fn has_home_note(&self) -> bool {
        self.file(&ChangedFile::vault(layout::fixed_path(layout::HOME_NOTE))).is_ok_and(|file| file.exists())
    }

    /// The notes of projects that exist.
    pub fn project_notes(&self) -> Result<Vec<VaultPath>, Error> {
        let folder = self.folder().join(layout::PROJECT_NOTES);
        match walk_files(&folder) {
            Ok(files) => Ok(files
                .iter()
                .filter_map(|file| self.vault_path(file))
                .filter(|path| path.name().ends_with(".md") && !layout::is_conflict_copy(path.name()))
                .collect()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(Error::io("read", &folder)(error)),
        }
    }

    /// The person's versions of derived notes that were kept as copies.
    pub fn derived_note_copies(&self) -> Vec<PathBuf> {
        let folders = [self.folder().to_owned(), self.folder().join(layout::PROJECT_NOTES)];
        let items = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
        let is_copy = |file: &PathBuf| {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("Rekindle") && layout::is_conflict_copy(name)
        };
        items.filter_map(|item| Some(item.ok()?.path())).filter(is_copy).collect()
    }

    /// Removes the note of a project without memories, if it holds nothing of the person. Returns true if it is gone.
    pub fn remove_generated_note(&self, path: &VaultPath, now: &Zoned) -> Result<bool, Error> {
        let place = ChangedFile::vault(path.clone());
        let file = self.file(&place)?;
        let _writer = self.writer(now)?;
        let Some(read) = self.read(&place)? else { return Ok(true) };
        let head = read.text.split("<!--").next().unwrap_or_default();
        let is_ours = head.starts_with("---\naliases:") && GeneratedNote::is_untouched(head, &read.text);
        match is_ours {
            true => disk::remove_unchanged(&file, read.text.as_bytes()).map_err(Error::io("remove", &file)),
            false => Ok(false),
        }
    }

    /// Removes the lines about forgotten files from the derived notes. Returns the number of changed notes.
    pub(crate) fn forget_in_generated_notes(&self, gone: &[VaultPath]) -> Result<usize, Error> {
        let folder = self.folder_name();
        let names: Vec<String> = gone
            .iter()
            .flat_map(|path| {
                let link = format!("{folder}/{}", path.as_str().trim_end_matches(".md"));
                // The ends of a link, so that another file with a longer name stays.
                ["|", "\\|", "]", "#"].map(|end| format!("{link}{end}"))
            })
            .collect();
        let mut changed = 0;
        let home = layout::fixed_path(layout::HOME_NOTE);
        for path in self.project_notes()?.into_iter().chain([home]) {
            let place = ChangedFile::vault(path);
            let Some(read) = self.read(&place)? else { continue };
            if let Some(text) = without_lines(&read.text, &names) {
                let file = self.file(&place)?;
                changed += usize::from(
                    disk::replace_shredding(&file, read.text.as_bytes(), text.as_bytes())
                        .map_err(Error::io("write", &file))?,
                );
            }
        }
        Ok(changed)
    }

    /// Keeps the person's version of a derived note beside it.
    fn keep_copy(&self, path: &VaultPath, text: &str, now: &Zoned) -> Result<PathBuf, Error> {
        let stamp = now.strftime("%Y%m%d-%H%M%S").to_string();
        let copy: VaultPath = layout::conflict_copy(path, &stamp)?;
        let file: PathBuf = self.file(&ChangedFile::vault(copy))?;
        let write = |file: &Path| disk::write_new(file, text.as_bytes());
        match write(&file) {
            // The same second: the same text, or a version that is already safe.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(file),
            Err(error) => Err(Error::io("write", &file)(error)),
            Ok(()) => Ok(file),
        }
    }
}
