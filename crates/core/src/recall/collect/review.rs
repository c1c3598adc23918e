//! `REVIEW.md`: the proposals that wait for a decision. One that was ticked has been seen, one that was turned
//! down is not recalled.

use std::ops::Range;

use super::visible::visible;
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
        let pieces = note::pieces(file, 0..file.lines.len(), DocumentSource::Proposal);
        let unseen = |document| Document { origin: Origin::Agent, reviewed: false, ..document };
        return pieces.into_iter().map(unseen).collect();
    };
    let mut found: Vec<Document> = Vec::new();
    let is_recalled =
        |entry: &&PageEntry| entry.state != CheckboxState::Rejected && !is_asked(entry.place.as_ref());
    for entry in page.entries.iter().filter(is_recalled) {
        let said = (entry.title.as_str(), entry.text.as_str());
        let lines = file.lines_of(&entry.range);
        let waits = proposal(file, entry.id, entry.place.as_ref(), said, lines);
        let project = entry.scope.as_ref().and_then(Scope::project).cloned();
        found.push(Document { reviewed: entry.state == CheckboxState::Approved, project, ..waits });
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
        found.extend(visible(&file.lines, start..end).map(|text| file.document(DocumentSource::Note, text)));
    }
    found
}

/// Whether it only asks how far a memory reaches: what it says is recalled from that memory, in its project.
pub(super) fn is_asked(place: Option<&ProposalPlace>) -> bool {
    matches!(place, Some(ProposalPlace::Section(name)) if name == EVERY_PROJECT)
}

/// A proposal that waits: its title and text, and the lines they stand on.
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
        // The page does not say whose words support it, so they are not taken for the person's.
        origin: Origin::Agent,
        reviewed: false,
        ..plain
    }
}
