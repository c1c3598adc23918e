//! `REVIEW.md`: the proposals that wait for a decision. One that was ticked has been seen, one that was turned
//! down is not recalled.

use std::ops::Range;

use super::visible::visible;
use super::{File, Text, note};
use crate::base::provenance::Origin;
use crate::base::scope::Scope;
use crate::recall::document::{Document, Source};
use crate::text::clean::one_line;
use crate::vault::entry::MAX_TITLE_CHARS;
use crate::vault::review::EVERY_PROJECT;
use crate::vault::review::{self, Entry, Id, Place, State};

pub(super) fn documents(file: &File<'_>) -> Vec<Document> {
    let Ok(page) = review::parse(file.text) else {
        let pieces = note::pieces(file, 0..file.lines.len(), Source::Proposal);
        let unseen = |document| Document { origin: Origin::Agent, reviewed: false, ..document };
        return pieces.into_iter().map(unseen).collect();
    };
    let mut found: Vec<Document> = Vec::new();
    let is_recalled = |entry: &&Entry| entry.state != State::Rejected && !is_asked(entry.place.as_ref());
    for entry in page.entries.iter().filter(is_recalled) {
        let said = (entry.title.as_str(), entry.text.as_str());
        let lines = file.lines_of(&entry.range);
        let waits = proposal(file, entry.id, entry.place.as_ref(), said, lines);
        let project = entry.scope.as_ref().and_then(Scope::project).cloned();
        found.push(Document { reviewed: entry.state == State::Approved, project, ..waits });
    }
    // What a person wrote between the lines is theirs.
    let mut notes: Vec<Range<usize>> = Vec::new();
    for bytes in page.notes {
        match notes.last_mut() {
            Some(last) if last.end == bytes.start => last.end = bytes.end,
            _ => notes.push(bytes),
        }
    }
    for bytes in notes {
        let start = file.lines.partition_point(|line| line.start < bytes.start);
        let end = file.lines.partition_point(|line| line.start < bytes.end);
        found.extend(visible(&file.lines, start..end).map(|text| file.document(Source::Note, text)));
    }
    found
}

/// Whether it only asks how far a memory reaches: what it says is recalled from that memory, in its project.
pub(super) fn is_asked(place: Option<&Place>) -> bool {
    matches!(place, Some(Place::Section(name)) if name == EVERY_PROJECT)
}

/// A proposal that waits: its title and text, and the lines they stand on.
pub(super) fn proposal(
    file: &File<'_>,
    id: Id,
    place: Option<&Place>,
    (title, text): (&str, &str),
    lines: (u32, u32),
) -> Document {
    let shown = if text.is_empty() { title } else { text };
    let plain = file.document(Source::Proposal, Text { text: shown.to_owned(), lines });
    let kind = match place {
        Some(Place::Section(name)) => name.clone(),
        Some(Place::Friction(_)) => "friction".to_owned(),
        None => String::new(),
    };
    Document {
        id: id.to_string(),
        title: if title.is_empty() { plain.title } else { one_line(title, MAX_TITLE_CHARS) },
        kind,
        created: file.day(id.date).or(plain.created),
        // The page does not say whose words support it, so they are not taken for the person's.
        origin: Origin::Agent,
        reviewed: false,
        ..plain
    }
}
