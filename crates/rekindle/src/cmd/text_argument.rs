//! Text arguments: `TEXT`, `@FILE`, or `-` for stdin.

use std::io::Read;
use std::path::Path;

use rekindle_core::vault::entry::MAX_BODY_BYTES;
use rekindle_engine::platform::disk::{self, FileContent};
use rekindle_engine::vault::{self, text};

use crate::error::CliError;

/// Reads a `--body`. A leading `@@` stands for a literal at sign.
pub(crate) fn read(argument: &str, cwd: &Path) -> Result<String, CliError> {
    read_limited(MAX_BODY_BYTES as u64, argument, cwd)
}

/// Reads a text of up to `limit` bytes, for data larger than a memory: an event may hold a whole session
/// (CAP-22).
pub(crate) fn read_limited(limit: u64, argument: &str, cwd: &Path) -> Result<String, CliError> {
    let body = match argument {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > limit {
                let what = "stdin".to_owned();
                return Err(vault::Error::TooLarge { what, bytes: bytes.len() as u64, limit }.into());
            }
            text("stdin", bytes)?
        }
        _ if argument.starts_with("@@") => argument[1..].to_owned(),
        _ if argument.starts_with('@') => file(&cwd.join(&argument[1..]), limit)?,
        _ => argument.to_owned(),
    };
    if body.trim().is_empty() {
        return Err(CliError::usage("the text is empty").hint("use TEXT, @FILE, or - for stdin"));
    }
    Ok(body)
}

/// The largest prompt that is read, in bytes. Recall uses far less of it: `core` takes both ends.
const MAX_PROMPT_BYTES: u64 = 8 * 1024 * 1024;

/// Reads a query. Any pasted or piped input gets an answer: empty input, a whole log, bytes that are no text.
pub(crate) fn prompt(argument: &str, cwd: &Path) -> Result<String, CliError> {
    let bytes = match argument {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().take(MAX_PROMPT_BYTES).read_to_end(&mut bytes)?;
            bytes
        }
        _ if argument.starts_with("@@") => argument[1..].into(),
        _ if argument.starts_with('@') => bytes(&cwd.join(&argument[1..]), MAX_PROMPT_BYTES)?,
        _ => argument.into(),
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn file(path: &Path, limit: u64) -> Result<String, CliError> {
    Ok(text(&path.display().to_string(), bytes(path, limit)?)?)
}

fn bytes(path: &Path, limit: u64) -> Result<Vec<u8>, CliError> {
    let what = path.display().to_string();
    match disk::read(path, limit) {
        Ok(FileContent::Bytes(bytes)) => Ok(bytes),
        Ok(FileContent::TooLarge(bytes)) => Err(vault::Error::TooLarge { what, bytes, limit }.into()),
        Ok(FileContent::Missing) => Err(CliError::usage(format!("no such file: {what}"))),
        Ok(FileContent::NotAFile) => Err(CliError::usage(format!("{what} is not a file"))),
        Err(error) => Err(CliError::usage(format!("could not read {what}: {error}"))),
    }
}
