//! The columns that ranking reads: a few numbers per document, in parallel arrays.

use super::document::{Document, DocumentSource};
use super::term_counts::TermCount;
use crate::base::provenance::Origin;
use crate::vault::entry::Confidence;
use crate::vault::priority::Priority;

/// The timestamp of a document without a date.
pub const NO_TIMESTAMP: i64 = i64::MIN;

/// Properties of a document, packed into bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentFlags(u32);

impl DocumentFlags {
    const REVIEWED: u32 = 1 << 16;
    const INBOX: u32 = 1 << 17;
    const ACTIVE: u32 = 1 << 18;
    const STALE: u32 = 1 << 19;

    /// Packs the properties of a document.
    pub fn from_document(document: &Document) -> Self {
        let place = |found: Option<usize>| found.map_or(0, |place| place as u32);
        let source = place(DocumentSource::ALL.iter().position(|source| *source == document.source));
        let origin = place(Origin::ALL.iter().position(|origin| *origin == document.origin));
        let confidence = match document.confidence {
            None => 0,
            Some(Confidence::Low) => 1,
            Some(Confidence::Medium) => 2,
            Some(Confidence::High) => 3,
        };
        let priority = document.priority.map_or(0, |priority| 1 + priority as u32);
        let bit = |set: bool, bit: u32| if set { bit } else { 0 };
        Self(
            source
                | origin << 8
                | confidence << 10
                | priority << 12
                | bit(document.reviewed, Self::REVIEWED)
                | bit(document.inbox, Self::INBOX)
                | bit(document.active, Self::ACTIVE)
                | bit(document.stale, Self::STALE),
        )
    }

    /// The bits in their file representation.
    pub fn to_bits(self) -> u32 {
        self.0
    }

    /// Unpacks the bits of a file.
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// The source of the document.
    pub fn source(self) -> DocumentSource {
        DocumentSource::ALL.get((self.0 & 0xff) as usize).copied().unwrap_or(DocumentSource::Note)
    }

    /// The origin of the words that support it.
    pub fn origin(self) -> Origin {
        Origin::ALL.get((self.0 >> 8 & 3) as usize).copied().unwrap_or(Origin::Tool)
    }

    /// The confidence at capture, if it is known.
    pub fn confidence(self) -> Option<Confidence> {
        [None, Some(Confidence::Low), Some(Confidence::Medium), Some(Confidence::High)]
            [(self.0 >> 10 & 3) as usize]
    }

    /// The priority, if it is known.
    pub fn priority(self) -> Option<Priority> {
        [None, Some(Priority::Low), Some(Priority::Medium), Some(Priority::High)][(self.0 >> 12 & 3) as usize]
    }

    /// True if a person reviewed it.
    pub fn is_reviewed(self) -> bool {
        self.0 & Self::REVIEWED != 0
    }

    /// True if it is in the inbox.
    pub fn is_inbox(self) -> bool {
        self.0 & Self::INBOX != 0
    }

    /// True if it is active.
    pub fn is_active(self) -> bool {
        self.0 & Self::ACTIVE != 0
    }

    /// True if it is marked as outdated.
    pub fn is_stale(self) -> bool {
        self.0 & Self::STALE != 0
    }
}

/// The columns of all documents, by number. The documents of a thread have consecutive numbers, in their
/// order.
#[derive(Clone, Debug, Default)]
pub struct DocumentColumns {
    /// The number of running words of each document.
    pub words: Vec<u32>,
    /// The number of terms of each document.
    pub lengths: Vec<u32>,
    /// The number of the thread of each document.
    pub threads: Vec<u32>,
    /// The creation time in seconds since 1970, or [`NO_TIMESTAMP`].
    pub created: Vec<i64>,
    /// The packed properties of each document.
    pub flags: Vec<DocumentFlags>,
    /// True if the document exists and is in scope and in the time range. Invisible documents affect nothing.
    pub visible: Vec<bool>,
}

impl DocumentColumns {
    /// The number of documents, visible or not.
    pub fn len(&self) -> usize {
        self.visible.len()
    }

    /// True if there are no documents.
    pub fn is_empty(&self) -> bool {
        self.visible.is_empty()
    }
}

/// The documents that contain one term of the query, in ascending order.
pub type TermPostings = Vec<(u32, TermCount)>;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
            #[test]
            fn flags_say_what_the_document_says(
                source in prop::sample::select(DocumentSource::ALL.to_vec()),
                origin in prop::sample::select(Origin::ALL.to_vec()),
                confidence in prop::sample::select(vec![None, Some(Confidence::Low), Some(Confidence::High)]),
                priority in prop::sample::select(vec![None, Some(Priority::Low), Some(Priority::High)]),
                bits in any::<[bool; 4]>(),
            ) {
                let [reviewed, inbox, active, stale] = bits;
                let document = Document {
    id: "x".into(),
    origin,
    reviewed,
    inbox,
    active,
    stale,
    confidence,
    priority,
    ..Document::unannotated(source, "p", "")
    };
                let flags = DocumentFlags::from_bits(DocumentFlags::from_document(&document).to_bits());
                prop_assert_eq!(flags.source(), source);
                prop_assert_eq!(flags.origin(), origin);
                prop_assert_eq!(flags.confidence(), confidence);
                prop_assert_eq!(flags.priority(), priority);
                let read = [flags.is_reviewed(), flags.is_inbox(), flags.is_active(), flags.is_stale()];
                prop_assert_eq!(read, bits);
            }
        }
}
