//! Documents of `MEMORY.md`: one for each line. A person promoted or typed every line.

use std::collections::BTreeSet;
use std::ops::Range;

use super::visible::visible_words;
use super::{CollectedFile, LocatedText, note};
use crate::base::scope::ProjectId;
use crate::recall::document::{Document, DocumentSource};
use crate::vault::lines::LineKind;
use crate::vault::memory::{self, INTRODUCTION, MemoryItem, MemorySection};
use crate::vault::scope_mark;

pub(super) fn documents(file: &CollectedFile<'_>) -> Vec<Document> {
    // An unclosed fence would hide the rest of the file, so the file is split as a note.
    let Ok(sections) = memory::sections(file.text) else {
        return note::section_documents(file, 0..file.lines.len(), DocumentSource::Memory)
            .into_iter()
            .filter_map(scoped_document)
            .collect();
    };
    let items: Vec<(&MemorySection, &MemoryItem)> =
        sections.iter().flat_map(|section| section.items.iter().map(move |item| (section, item))).collect();
    let mut found: Vec<Document> =
        items.iter().map(|(section, item)| statement(file, section, item)).collect();
    for lines in paragraphs(file, &items) {
        let start = file.lines[lines.start].start;
        let section = sections[..sections.partition_point(|section| section.range.start <= start)].last();
        if let Some(text) = visible_words(&file.lines, lines).filter(|text| text.text != INTRODUCTION) {
            let kind = section.map(|section| section.title.clone()).unwrap_or_default();
            found.push(Document { kind, ..file.document(DocumentSource::Memory, text) });
        }
    }
    found.sort_by_key(|document| document.lines);
    found
}

/// Assigns a piece of an unstructured document to the project that its lines name; `None` if they name
/// several.
pub(super) fn scoped_document(document: Document) -> Option<Document> {
    let projects: BTreeSet<ProjectId> =
        document.text.lines().filter_map(|line| scope_mark::split(line)?.1.project().cloned()).collect();
    match projects.len() {
        0 => Some(document),
        1 => Some(Document { project: projects.into_iter().next(), ..document }),
        _ => None,
    }
}

fn statement(file: &CollectedFile<'_>, section: &MemorySection, item: &MemoryItem) -> Document {
    let text = LocatedText { text: item.text.clone(), lines: file.lines_of(&item.range) };
    let plain = file.document(DocumentSource::Memory, text);
    Document {
        kind: section.title.clone(),
        created: item.date.and_then(|date| file.day(date)).or(plain.created),
        origin: item.origin.unwrap_or(plain.origin),
        active: item.superseded.is_none(),
        project: item.project.clone(),
        ..plain
    }
}

/// The lines of text outside of the lists of sections. Items above the first heading count as text.
fn paragraphs(file: &CollectedFile<'_>, items: &[(&MemorySection, &MemoryItem)]) -> Vec<Range<usize>> {
    let is_text = |at: usize| {
        let line = &file.lines[at];
        let next = items.partition_point(|(_, item)| item.range.end <= line.start);
        matches!(line.kind, LineKind::Text { .. } | LineKind::Fence | LineKind::Item { .. })
            && !items.get(next).is_some_and(|(_, item)| item.range.contains(&line.start))
    };
    let is_item = |at: usize| matches!(file.lines[at].kind, LineKind::Item { depth: 1, .. });
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    for run in note::matching_runs(0..file.lines.len(), is_text) {
        paragraphs.push(run.start..run.start + 1);
        for at in run.skip(1) {
            match paragraphs.last_mut() {
                Some(last) if !is_item(at) => last.end = at + 1,
                _ => paragraphs.push(at..at + 1),
            }
        }
    }
    paragraphs
}
