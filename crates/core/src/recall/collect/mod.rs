//! Collects documents from the files of the notes. The path decides the type of the file, and the format
//! decides its documents.
//!
//! - `redacted`: the text of a file without secrets and hidden characters, line by line
//! - `visible`: the text of lines as a reader sees it
//! - `entry`, `memory`, `review`, `pending_proposals`, `daily`, `ideas`: the documents of the vault
//! - `note`: everything else a person keeps, by section (REC-21)
//!
//! Badly formatted files are not skipped: a file that does not parse as its path implies is treated as a note
//! . Forgotten text (B-08), sync copies and files that are not for people are skipped.

mod daily;
mod entry;
mod ideas;
mod memory;
mod note;
mod pending_proposals;
mod redacted;
mod review;
#[cfg(test)]
mod tests;
mod visible;

use std::collections::HashMap;

use super::document::{Document, DocumentSource};
use crate::base::hash::ContentHash;
use crate::base::id::EntryId;
use crate::base::time::{Date, TimeZone, Timestamp};
use crate::text::clean::one_line;
use crate::vault;
use crate::vault::entry::MAX_TITLE_CHARS;
use crate::vault::layout::{self, is_conflict_copy};
use crate::vault::lines::{MarkdownLine, parse_lines};
use crate::vault::tombstone::Graveyard;

/// The maximum size in bytes of a file to collect from.
pub const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// The maximum number of documents in a file. Real notes stay below it; the limit stops adversarial text.
pub const MAX_DOCUMENTS: usize = 50_000;

/// Folders of other programs, without notes.
const FOREIGN_FOLDERS: [&str; 2] = ["node_modules", "__pycache__"];

/// The context of a file besides its text.
#[derive(Clone, Copy, Debug)]
pub struct CollectContext<'a> {
    /// The person's time zone.
    pub zone: &'a TimeZone,
    /// The modification time of the file, used as the date of a note without one.
    pub modified: Option<Timestamp>,
    /// Tombstones of forgotten text.
    pub graves: &'a Graveyard,
}

/// True if the path, relative to the notes, may contain documents. Paths of folders end in `/`; everything
/// below a refused folder is refused.
pub fn is_recallable(path: &str, vault_folder: &str) -> bool {
    let is_foreign = |part: &str| part.starts_with('.') || FOREIGN_FOLDERS.contains(&part);
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    if path.split('/').any(is_foreign) {
        return false;
    }
    if in_vault(path, vault_folder).is_some_and(layout::is_generated_note) {
        return false;
    }
    if let Some(inside) = in_vault(path, vault_folder).filter(|inside| is_meta(inside)) {
        // Of Rekindle's own files, only pending proposals are collected.
        return inside.strip_prefix(layout::META) == Some("/")
            || vault::pending_proposals::is_queue_file(inside);
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_text = ["md", "markdown", "txt"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    name.is_empty() || (is_text && !is_conflict_copy(name))
}

fn is_meta(path: &str) -> bool {
    path.strip_prefix(layout::META).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path relative to the vault folder.
fn in_vault<'a>(path: &'a str, vault_folder: &str) -> Option<&'a str> {
    path.strip_prefix(vault_folder)?.strip_prefix('/')
}

/// Collects the documents of a file, in order. `path` is relative to the notes, with `/`; `vault_folder` is
/// the name of the vault's folder there.
pub fn documents(path: &str, vault_folder: &str, text: &str, context: &CollectContext<'_>) -> Vec<Document> {
    if text.len() as u64 > MAX_FILE_BYTES || !is_recallable(path, vault_folder) {
        return Vec::new();
    }
    let text = redacted::redacted_text(text);
    let file = CollectedFile { path, text: &text, lines: parse_lines(&text).lines, context };
    let found = match in_vault(path, vault_folder) {
        Some(layout::MEMORY) => memory::documents(&file),
        Some(layout::REVIEW) => review::documents(&file),
        Some(inside) if vault::pending_proposals::is_queue_file(inside) => {
            pending_proposals::documents(&file)
        }
        Some(inside) => match daily::date_of(inside) {
            Some(date) => return finish_documents(daily::documents(&file, date), &file),
            None => entry::documents(&file, inside).unwrap_or_else(|| note::documents(&file)),
        },
        None if path == layout::IDEAS => ideas::documents(&file),
        None => note::documents(&file),
    };
    finish_documents(found.into_iter().map(CollectedDocument::from), &file)
}

/// Collects the documents of text that was appended to a daily log of `lines_before` lines. The result equals
/// the tail of [`documents`] for the whole log. `None` if the appended text is not only keyed sections of
/// ours, so that the whole log has to be read.
pub fn collect_appended(
    path: &str,
    vault_folder: &str,
    added: &str,
    lines_before: usize,
    context: &CollectContext<'_>,
) -> Option<Vec<Document>> {
    let date = daily::date_of(in_vault(path, vault_folder)?).filter(|_| is_recallable(path, vault_folder))?;
    // The appended text must not continue an open block.
    if !added.trim_start_matches(['\r', '\n']).starts_with("### ") {
        return None;
    }
    let text = redacted::redacted_text(added);
    let mut lines = parse_lines(&text).lines;
    lines.iter_mut().for_each(|line| line.number += lines_before);
    let file = CollectedFile { path, text: &text, lines, context };
    daily::is_ours(&file, date).then(|| finish_documents(daily::documents(&file, date), &file))
}

/// A document, and the parts of its name besides its text.
struct CollectedDocument {
    document: Document,
    key: Option<String>,
}

impl From<Document> for CollectedDocument {
    fn from(document: Document) -> Self {
        Self { document, key: None }
    }
}

/// A file during collection: its text is redacted, and its lines keep their numbers.
struct CollectedFile<'a> {
    path: &'a str,
    text: &'a str,
    lines: Vec<MarkdownLine<'a>>,
    context: &'a CollectContext<'a>,
}

impl CollectedFile<'_> {
    /// A document with the defaults: the person's own words, in every project.
    fn document(&self, source: DocumentSource, text: LocatedText) -> Document {
        let title = one_line(&text.text, MAX_TITLE_CHARS);
        self.titled(source, text, title)
    }

    /// A document with the defaults and its own title.
    fn titled(&self, source: DocumentSource, text: LocatedText, title: String) -> Document {
        Document {
            lines: Some(text.lines),
            title,
            created: self.context.modified,
            ..Document::unannotated(source, self.path, text.text)
        }
    }

    /// The start of a day in the person's time zone.
    fn day(&self, date: Date) -> Option<Timestamp> {
        Some(date.to_zoned(self.context.zone.clone()).ok()?.timestamp())
    }

    /// The first and last line of a range of bytes, counted from 1, both inclusive.
    fn lines_of(&self, bytes: &std::ops::Range<usize>) -> (u32, u32) {
        let at = |byte: usize| self.lines.partition_point(|line| line.end() <= byte) + 1;
        let number = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        let last = at(bytes.end.saturating_sub(1).max(bytes.start));
        (number(at(bytes.start)), number(last.min(self.lines.len().max(1))))
    }
}

/// Text with its line range.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LocatedText {
    text: String,
    lines: (u32, u32),
}

/// Drops forgotten and empty documents, and names those without an id.
fn finish_documents(
    found: impl IntoIterator<Item = CollectedDocument>,
    file: &CollectedFile<'_>,
) -> Vec<Document> {
    let graves = file.context.graves;
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut documents = Vec::new();
    for CollectedDocument { mut document, key } in found.into_iter().take(MAX_DOCUMENTS) {
        if !graves.is_empty() {
            if EntryId::parse(&document.id).is_some_and(|id| graves.holds_entry(&id)) {
                continue;
            }
            document.text = visible::without_forgotten(&document.text, graves);
        }
        if !document.text.contains(char::is_alphanumeric) {
            continue;
        }
        if document.id.is_empty() {
            let text = document.text.as_bytes();
            // The key of its section makes the id independent of the rest of the file.
            let hash = key.map_or_else(
                || ContentHash::of_bytes(text).short_hex(8),
                |key| ContentHash::of_parts(&[key.as_bytes(), text]).short_hex(12),
            );
            document.id = format!("{}#{hash}", file.path);
        }
        let nth = seen.entry(document.id.clone()).or_default();
        *nth += 1;
        if *nth > 1 {
            document.id = format!("{}-{nth}", document.id);
        }
        documents.push(document);
    }
    documents
}
