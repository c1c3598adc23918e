//! Documents of `REVIEW.md`: the pending proposals. A ticked proposal is reviewed; a rejected one is
//! not collected.

use std::ops::Range;

use super::visible::visible_words;
use super::{CollectedFile, LocatedText, note};
use crate::base::provenance::Origin;
use crate::base::scope::Scope;
use crate::recall::document::{Document, DocumentSource};
use crate::text::clean::one_line;
use crate::vault::entry::MAX_TITLE_CHARS;
use crate::vault::review::EVERY_PROJECT;
use crate::vault::review::{self, CheckboxState, PageEntry, ProposalId, ProposalPlace};

pub(super) fn documents(file: &CollectedFile<'_>) -> Vec<Document> {
    let Ok(page) = review::parse(file.text) else {
        let pieces = note::section_documents(file, 0..file.lines.len(), DocumentSource::Proposal);
        let unseen = |document| Document { origin: Origin::Agent, reviewed: false, ..document };
        return pieces.into_iter().map(unseen).collect();
    };
    let mut found: Vec<Document> = Vec::new();
    let is_recalled = |entry: &&PageEntry| {
        entry.state != CheckboxState::Rejected && !is_scope_question(entry.place.as_ref())
    };
    for entry in page.entries.iter().filter(is_recalled) {
        let said = (entry.title.as_str(), entry.text.as_str());
        let lines = file.lines_of(&entry.range);
        let waits = proposal(file, entry.id, entry.place.as_ref(), said, lines);
        let project = entry.scope.as_ref().and_then(Scope::project).cloned();
        found.push(Document { reviewed: entry.state == CheckboxState::Approved, project, ..waits });
    }
    // Text that a person wrote between the proposals is a note of theirs.
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
        found.extend(
            visible_words(&file.lines, start..end).map(|text| file.document(DocumentSource::Note, text)),
        );
    }
    found
}

/// True if the proposal only asks about the scope of a memory. That memory itself is recalled, in its project
///
pub(super) fn is_scope_question(place: Option<&ProposalPlace>) -> bool {
    matches!(place, Some(ProposalPlace::Section(name)) if name == EVERY_PROJECT)
}

/// A pending proposal as a document: its title, text and lines.
pub(super) fn proposal(
    file: &CollectedFile<'_>,
    id: ProposalId,
    place: Option<&ProposalPlace>,
    (title, text): (&str, &str),
    lines: (u32, u32),
) -> Document {
    let shown = if text.is_empty() { title } else { text };
    let plain = file.document(DocumentSource::Proposal, LocatedText { text: shown.to_owned(), lines });
    let kind = match place {
        Some(ProposalPlace::Section(name)) => name.clone(),
        Some(ProposalPlace::Friction(_)) => "friction".to_owned(),
        None => String::new(),
    };
    Document {
        id: id.to_string(),
        title: if title.is_empty() { plain.title } else { one_line(title, MAX_TITLE_CHARS) },
        kind,
        created: file.day(id.date).or(plain.created),
        // The page does not record the origin of the words, so they do not count as the person's.
        origin: Origin::Agent,
        reviewed: false,
        ..plain
    }
}
