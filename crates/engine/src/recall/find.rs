//! What an id means that a recall has named: a line of a log or of MEMORY.md, a section of a note, something that was said.

use rekindle_core::recall::document::Document;

use crate::index::{IndexSnapshot, RecallIndex};
use crate::recall::messages::{Error, MessageStore};

/// The document of that id, as the index knows it; `None` if there is none.
pub fn by_id(index: &RecallIndex, messages: &MessageStore, id: &str) -> Result<Option<Document>, Error> {
    if let Some(found) = index.open()?.and_then(|snapshot| among(&snapshot, id)) {
        return Ok(Some(found));
    }
    Ok(messages.open()?.and_then(|snapshot| among(&snapshot, id)))
}

fn among(snapshot: &IndexSnapshot, id: &str) -> Option<Document> {
    (0..snapshot.len()).filter_map(|number| snapshot.document(number)).find(|document| document.id == id)
}
