//! One configuration file on disk.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::Error;

/// The file's text, None if there is no such file, or what is wrong with it in words that follow its name.
pub(super) fn read(path: &Path, limit: u64) -> Result<Option<String>, String> {
    let cannot = |error: io::Error| format!("cannot be read: {error}");
    let about = match fs::metadata(path) {
        // A link to nowhere is a file that went missing, not one that never was.
        Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            return Ok(None);
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(
                "is a link to a file that is not there; restore the file or remove the link".to_owned()
            );
        }
        about => about.map_err(cannot)?,
    };
    if !about.is_file() {
        let what = if about.is_dir() { "a folder" } else { "a device or a pipe" };
        return Err(format!("is {what} where a file should be; move it away"));
    }
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that grew since from one that fits.
    fs::File::open(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(cannot)?;
    if bytes.len() as u64 > limit {
        return Err(format!("is larger than {} KiB, too large for settings", limit / 1024));
    }
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("line {line} is not UTF-8; save the file as UTF-8")
    })
}

/// Writes the file whole: a reader or a power cut sees the old text or the new one. `before` is what the
/// change was made from, None for a new file; if the file says something else by now, nothing is written.
pub(super) fn write(path: &Path, text: &str, before: Option<&str>) -> Result<(), Error> {
    // People link their settings into a dotfiles folder: the link stays, its target changes.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |cause| Error::Write { path, cause }
    };

    make_folder(folder).map_err(failed(folder))?;
    let temp = temp_name(folder).map_err(failed(folder))?;
    let result = write_new(&temp, text).map_err(failed(&target)).and_then(|()| {
        if fs::read(&target).ok().as_deref() != before.map(str::as_bytes) {
            return Err(Error::Changed { path: path.to_owned() });
        }
        replace(&temp, &target).map_err(failed(&target))
    });
    if result.is_err() {
        discard(&temp);
    }
    result
}

fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn temp_name(folder: &Path) -> io::Result<PathBuf> {
    let random = getrandom::u64()?;
    Ok(folder.join(format!(".config.toml.{random:016x}.tmp")))
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the settings are outside the vault; what is replaced was just compared"
)]
fn replace(temp: &Path, target: &Path) -> io::Result<()> {
    fs::rename(temp, target)?;
    // The rename itself is durable only once the folder is.
    #[cfg(unix)]
    if let Some(folder) = target.parent() {
        fs::File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "our own temporary file, of a name nobody else has")]
fn discard(temp: &Path) {
    // The error that brought us here is the one to report.
    fs::remove_file(temp).ok();
}
