//! The anchor of the save benchmark: writes one small file durably and does nothing else.
//!
//! `write_one PATH` writes about 600 bytes to a temporary file beside PATH, syncs it and renames it to PATH.

use std::fs::{self, File};
use std::io::{Error, Result, Write};
use std::path::PathBuf;

/// About the size of a saved memory with its frontmatter.
const TEXT: &[u8] = &[b'x'; 600];

#[expect(clippy::disallowed_methods, reason = "the anchor must not share the product's way of writing")]
fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.ok_or_else(|| Error::other("usage: write_one PATH"))?;
    let temporary = path.with_added_extension("tmp");
    let mut file = File::create(&temporary)?;
    file.write_all(TEXT)?;
    file.sync_all()?;
    fs::rename(temporary, path)
}
