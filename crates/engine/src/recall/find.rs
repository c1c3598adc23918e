//! Looks up an id from a recall: a line of a log or of MEMORY.md, a section of a note, or a message.

use rekindle_core::recall::document::Document;

use crate::index::{IndexSnapshot, RecallIndex};
use crate::recall::messages::{Error, MessageStore};

/// The document with that id, as indexed; `None` if there is none.
pub fn document_by_id(
    index: &RecallIndex,
    messages: &MessageStore,
    id: &str,
) -> Result<Option<Document>, Error> {
    if let Some(found) = index.open()?.and_then(|snapshot| find_in_snapshot(&snapshot, id)) {
        return Ok(Some(found));
    }
    Ok(messages.open()?.and_then(|snapshot| find_in_snapshot(&snapshot, id)))
}

fn find_in_snapshot(snapshot: &IndexSnapshot, id: &str) -> Option<Document> {
    snapshot.documents_with_id(id).into_iter().next()
}
