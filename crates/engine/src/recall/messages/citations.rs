//! Citations: the messages that entries were made from, by the hash of session and message id.
//!
//! Recall shows the entry. The raw message beside it would repeat it, and would still hold the old value
//! after the entry changes (REC-10). Everything here follows from the frontmatter of the entries and of their
//! archived versions, so `reindex --all` can rebuild it.

use std::io;
use std::path::Path;

use rekindle_core::recall::citation::{Citation, Cited};

use crate::platform::disk;

const FILE: &str = "cited";
/// Reads the citations of an archive; empty if the file is missing or unreadable, which only costs
/// repetition.
pub(super) fn read(archive: &Path) -> Cited {
    Cited::parse(&std::fs::read_to_string(archive.join(FILE)).unwrap_or_default())
}

/// Appends citations to the file.
pub(super) fn append(archive: &Path, citations: &[Citation]) -> io::Result<()> {
    if citations.is_empty() {
        return Ok(());
    }
    disk::create_private_folder(archive)?;
    let lines: String = citations.iter().map(Citation::line).collect();
    disk::LineFile::open(&archive.join(FILE))?.append(&lines, false)
}

/// Replaces all citations in the file.
pub(super) fn replace(archive: &Path, citations: &[Citation]) -> io::Result<()> {
    disk::create_private_folder(archive)?;
    let lines: String = citations.iter().map(Citation::line).collect();
    disk::write_atomic(&archive.join(FILE), lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use rekindle_core::recall::document::{Document, DocumentSource};

    use super::*;

    fn message(id: &str, text: &str) -> Document {
        Document {
            id: format!("claude/s1#{id}"),
            thread: Some("s1".to_owned()),
            ..Document::unannotated(
                DocumentSource::Message,
                "messages/claude/s1.jsonl".to_owned(),
                text.to_owned(),
            )
        }
    }

    #[test]
    fn an_entry_stands_for_a_short_message_and_for_every_superseded_one() {
        let folder = tempfile::tempdir().unwrap();
        let (short, long) = ("no, staging is on 5433", "word ".repeat(100));
        let of = |id| Citation::of_statement("s1", id, 21);
        append(folder.path(), &[of("a"), of("b")]).unwrap();
        let cited = read(folder.path());
        assert!(cited.stands_for(&message("a", short)));
        assert!(!cited.stands_for(&message("b", &long)), "it says more than the entry");
        assert!(!cited.stands_for(&message("c", short)), "no entry cites it");

        append(folder.path(), &[Citation::superseded("s1", "b"), of("b")]).unwrap();
        assert!(read(folder.path()).stands_for(&message("b", &long)));

        replace(folder.path(), &[of("c")]).unwrap();
        let cited = read(folder.path());
        assert!(cited.stands_for(&message("c", short)) && !cited.stands_for(&message("a", short)));
        disk::write_atomic(&folder.path().join(FILE), b"torn\nx y\n").unwrap();
        assert!(!read(folder.path()).stands_for(&message("c", short)));
    }
}
