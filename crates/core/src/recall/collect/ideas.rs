//! Documents of `Ideas.md`: one for each idea. The origin of an idea that links to the incubator is recorded
//! there, not in this file.

use super::visible::visible_words;
use super::{CollectedFile, LocatedText, memory, note};
use crate::base::provenance::Origin;
use crate::recall::document::{Document, DocumentSource};
use crate::text::clean::one_line;
use crate::vault::entry::MAX_TITLE_CHARS;
use crate::vault::ideas::{self, IdeaEntry};
use crate::vault::scope_mark;

pub(super) fn documents(file: &CollectedFile<'_>) -> Vec<Document> {
    let all = 0..file.lines.len();
    let Ok(entries) = ideas::parse(file.text) else {
        return note::section_documents(file, all, DocumentSource::Idea)
            .into_iter()
            .filter_map(memory::scoped_document)
            .collect();
    };
    let mut found = Vec::new();
    let mut from = 0;
    for entry in &entries {
        let start = file.lines.partition_point(|line| line.start < entry.range.start);
        let end = file.lines.partition_point(|line| line.start < entry.range.end);
        found.extend(note::section_documents(file, from..start, DocumentSource::Idea));
        found.push(idea(file, entry, start..end));
        from = end;
    }
    found.extend(note::section_documents(file, from..all.end, DocumentSource::Idea));
    found
}

fn idea(file: &CollectedFile<'_>, entry: &IdeaEntry, lines: std::ops::Range<usize>) -> Document {
    let heading = u32::try_from(entry.line).unwrap_or(u32::MAX);
    let body = note::below_heading(file, &lines);
    let last = note::last_heading_line(file, &lines).unwrap_or(heading);
    let text = visible_words(&file.lines, body)
        .unwrap_or(LocatedText { text: entry.title.clone(), lines: (heading, last) });
    // The scope mark is not part of the text.
    let words = |line: &str| scope_mark::split(line).map_or(line, |(words, _)| words).to_owned();
    let project_note = match entry.project {
        Some(_) => text.text.lines().map(words).collect::<Vec<_>>().join("\n"),
        None => text.text,
    };
    let text = LocatedText { text: project_note, lines: (heading, text.lines.1) };
    let plain = file.document(DocumentSource::Idea, text);
    let is_ours = entry.slug.is_some();
    Document {
        title: if entry.title.is_empty() { plain.title } else { one_line(&entry.title, MAX_TITLE_CHARS) },
        kind: "idea".to_owned(),
        created: file.day(entry.date).or(plain.created),
        origin: if is_ours { Origin::Agent } else { Origin::User },
        reviewed: !is_ours,
        project: entry.project.clone(),
        ..plain
    }
}
