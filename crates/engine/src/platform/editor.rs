//! Edits a text in the user's own editor: `$VISUAL`, else `$EDITOR`, else `vi`. The file is always deleted
//! afterwards; one that a killed process left is shredded a day later, on the next edit.
#![expect(clippy::disallowed_methods, reason = "the editor is the person's own, and it is waited for")]

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use thiserror::Error;

use crate::platform::disk::{self, FileContent};
use crate::platform::environment;

/// The maximum size of the edited text. A larger one cannot be a line of MEMORY.md and is not read back.
const MAX_EDITED_BYTES: u64 = 256 * 1024;
/// The prefix of the file name of a draft.
const DRAFT: &str = "draft-";
/// The age at which a file is no longer in use.
const ABANDONED_AFTER: Duration = Duration::from_secs(24 * 3600);

/// An error of an edit.
#[derive(Debug, Error)]
pub enum Error {
    /// The file could not be written or read.
    #[error("cannot use {path}: {cause}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// The editor could not be started.
    #[error("cannot start the editor `{editor}`: {cause}; set VISUAL or EDITOR")]
    Start {
        /// The editor's command line.
        editor: String,
        /// The error of the system.
        cause: io::Error,
    },
    /// The editor reported a failure.
    #[error("the editor `{0}` failed, so its text was discarded")]
    Failed(String),
    /// The editor left a file that is not text.
    #[error("the edited file is not text, or is larger than 256 KiB")]
    NotText,
}

/// The editor that the environment names, if any.
pub fn configured_editor() -> Option<String> {
    let set = |name| environment::variable(name).filter(|value| !value.trim().is_empty());
    set("VISUAL").or_else(|| set("EDITOR"))
}

/// Lets the user edit `text`, in a file of `folder` whose name begins with `name`, and returns the result.
pub fn edit(folder: &Path, name: &str, text: &str) -> Result<String, Error> {
    let editor = configured_editor().unwrap_or_else(|| "vi".to_owned());
    let path = folder.join(format!("{name}-{}.md", std::process::id()));
    let file = |cause| Error::File { path: path.clone(), cause };
    remove_abandoned(folder).map_err(file)?;
    disk::write_atomic(&path, format!("{}\n", text.trim_end()).as_bytes()).map_err(file)?;
    let left = run(&editor, &path).and_then(|()| disk::read(&path, MAX_EDITED_BYTES).map_err(file));
    if path.exists() {
        disk::shred(&path).map_err(file)?;
    }
    match left? {
        FileContent::Bytes(bytes) => String::from_utf8(bytes).map_err(|_| Error::NotText),
        // A deleted file means an empty text.
        FileContent::Missing => Ok(String::new()),
        FileContent::NotAFile | FileContent::TooLarge(_) => Err(Error::NotText),
    }
}

/// The draft with this name: a text that could not be saved ([`keep_draft`]).
pub fn draft(folder: &Path, name: &str) -> Result<Option<String>, Error> {
    let path = draft_path(folder, name);
    match disk::read(&path, MAX_EDITED_BYTES).map_err(|cause| Error::File { path, cause })? {
        FileContent::Bytes(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| Error::NotText),
        FileContent::Missing => Ok(None),
        FileContent::NotAFile | FileContent::TooLarge(_) => Err(Error::NotText),
    }
}

/// Stores a text that could not be saved, until [`drop_draft`], and returns its path.
pub fn keep_draft(folder: &Path, name: &str, text: &str) -> Result<PathBuf, Error> {
    let path = draft_path(folder, name);
    match disk::write_atomic(&path, text.as_bytes()) {
        Ok(()) => Ok(path),
        Err(cause) => Err(Error::File { path, cause }),
    }
}

/// Shreds the draft with this name, if it exists.
pub fn drop_draft(folder: &Path, name: &str) -> Result<(), Error> {
    let path = draft_path(folder, name);
    match path.exists() {
        true => disk::shred(&path).map_err(|cause| Error::File { path, cause }),
        false => Ok(()),
    }
}

fn draft_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{DRAFT}{name}.md"))
}

/// Runs the editor through a shell, because the variable may hold arguments.
fn run(editor: &str, path: &Path) -> Result<(), Error> {
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("/bin/sh");
        shell.arg("-c").arg(format!("{editor} \"$@\"")).arg(editor);
        shell
    } else {
        let mut words = editor.split_whitespace();
        let mut program = Command::new(words.next().unwrap_or(editor));
        program.args(words);
        program
    };
    let status = command.arg(path).status();
    let status = status.map_err(|cause| Error::Start { editor: editor.to_owned(), cause })?;
    if status.success() { Ok(()) } else { Err(Error::Failed(editor.to_owned())) }
}

/// Shreds the files that killed processes and their editors left.
fn remove_abandoned(folder: &Path) -> io::Result<()> {
    let files = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    for file in files {
        let file = file?;
        if file.file_name().to_string_lossy().starts_with(DRAFT) {
            continue;
        }
        let about = file.metadata()?;
        let age = about.modified()?.elapsed().unwrap_or_default();
        if about.is_file() && age > ABANDONED_AFTER {
            disk::shred(&file.path())?;
        }
    }
    Ok(())
}
