//! Text as people give it: `TEXT`, `@FILE`, or `-` for stdin.

use std::io::Read;
use std::path::Path;

use rekindle_core::vault::entry::MAX_BODY_BYTES;
use rekindle_engine::disk::{self, Content};
use rekindle_engine::vault::{self, text};

use crate::error::Failure;

/// Reads a `--body`. `@@…` is a text that begins with an at sign.
pub(crate) fn read(argument: &str, cwd: &Path) -> Result<String, Failure> {
    let limit = MAX_BODY_BYTES as u64;
    let body = match argument {
        "-" => {
            let mut bytes = Vec::new();
            std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > limit {
                return Err(too_large("stdin", bytes.len() as u64));
            }
            text("stdin", bytes)?
        }
        _ if argument.starts_with("@@") => argument[1..].to_owned(),
        _ if argument.starts_with('@') => file(&cwd.join(&argument[1..]))?,
        _ => argument.to_owned(),
    };
    if body.trim().is_empty() {
        return Err(
            Failure::usage("the body is empty").hint("give the text, `@FILE`, or `-` and the text on stdin")
        );
    }
    Ok(body)
}

fn file(path: &Path) -> Result<String, Failure> {
    let what = path.display().to_string();
    match disk::read(path, MAX_BODY_BYTES as u64) {
        Ok(Content::Bytes(bytes)) => Ok(text(&what, bytes)?),
        Ok(Content::TooLarge(bytes)) => Err(too_large(&what, bytes)),
        Ok(Content::Missing) => Err(Failure::usage(format!("there is no file {what}"))),
        Ok(Content::NotAFile) => Err(Failure::usage(format!("{what} is not a file"))),
        Err(error) => Err(Failure::usage(format!("{what} could not be read: {error}"))),
    }
}

fn too_large(what: &str, bytes: u64) -> Failure {
    vault::Error::TooLarge { what: what.to_owned(), bytes, limit: MAX_BODY_BYTES as u64 }.into()
}
