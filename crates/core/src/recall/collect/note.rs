//! Documents of a person's own notes: one for each section, with the file as their thread (REC-21). Short
//! sections are merged; long ones are cut between paragraphs.

use std::ops::Range;

use super::entry::{first_line, with_properties};
use super::visible::visible_words;
use super::{CollectedFile, LocatedText};
use crate::base::scope::{ProjectId, Scope};
use crate::base::time::{Date, Timestamp, parse};
use crate::recall::document::{Document, DocumentSource};
use crate::text::clean::one_line;
use crate::text::terms::is_unspaced;
use crate::vault::frontmatter::ParsedNote;
use crate::vault::lines::{LineKind, MarkdownLine};

/// The minimum number of words of a section that stands alone.
const MIN_SECTION_WORDS: usize = 25;
/// The number of words at which merging of short sections stops.
const MIN_MERGED_WORDS: usize = 120;
/// The maximum number of words of a section before it is cut.
const MAX_SECTION_WORDS: usize = 500;
/// The maximum number of characters of a title.
const MAX_TITLE_CHARS: usize = 120;

/// The separator between the headings of a title.
const TITLE_SEPARATOR: &str = " › ";

/// Collects the documents of a person's own file.
pub(super) fn documents(file: &CollectedFile<'_>) -> Vec<Document> {
    let name = file.path.rsplit('/').next().unwrap_or(file.path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let (known, body) =
        with_properties(file.text, |note, body| (NoteProperties::read_properties(note, stem, file), body));
    let pieces = section_documents(file, first_line(file, body)..file.lines.len(), DocumentSource::Note);
    let named = pieces.into_iter().map(|piece| {
        let is_other = |heading: &&str| !heading.is_empty() && !heading.eq_ignore_ascii_case(&known.title);
        let headings = piece.kind.split(TITLE_SEPARATOR).filter(is_other);
        let title: Vec<&str> = std::iter::once(known.title.as_str()).chain(headings).collect();
        Document {
            title: one_line(&title.join(TITLE_SEPARATOR), MAX_TITLE_CHARS),
            tags: known.tags.clone(),
            created: known.created.or(piece.created),
            project: known.scope.project().cloned(),
            thread: Some(file.path.to_owned()),
            ..piece
        }
    });
    named.collect()
}

/// The properties that a note declares.
struct NoteProperties {
    title: String,
    tags: Vec<String>,
    created: Option<Timestamp>,
    scope: Scope,
}

impl NoteProperties {
    fn read_properties(note: &ParsedNote<'_>, stem: &str, file: &CollectedFile<'_>) -> Self {
        let dated = |key| {
            let text = note.text_of(key)?;
            // A bare date is a day in the person's time zone.
            text.parse().ok().and_then(|date: Date| file.day(date)).or_else(|| parse(text))
        };
        let in_name = stem.get(..10).and_then(|date| date.parse().ok()).and_then(|date: Date| file.day(date));
        let project = note.text_of("project").filter(|id| !id.is_empty());
        Self {
            title: note.text_of("title").unwrap_or(stem).to_owned(),
            tags: note.list_of("tags"),
            created: ["created", "date"].into_iter().find_map(dated).or(in_name),
            scope: match (note.text_of("scope"), project) {
                (Some("project"), Some(id)) => Scope::Project(ProjectId::new(id)),
                _ => Scope::Global,
            },
        }
    }
}

/// Collects the sections of a range of lines, each as a document whose kind is its heading.
pub(super) fn section_documents(
    file: &CollectedFile<'_>,
    lines: Range<usize>,
    source: DocumentSource,
) -> Vec<Document> {
    let mut found = Vec::new();
    for section in join_small_sections(sections(&file.lines, lines)) {
        let heading = section.heading.unwrap_or_default();
        let first = number(&file.lines[section.lines.start]);
        let before = found.len();
        for part in split_lines(&file.lines, below_heading(file, &section.lines)) {
            let Some(mut text) = visible_words(&file.lines, part) else { continue };
            if found.len() == before && !heading.is_empty() {
                text.lines.0 = first;
            }
            found.push(Document { kind: heading.clone(), ..file.document(source, text) });
        }
        // A heading without text is a note too.
        if found.len() == before && !heading.is_empty() && source == DocumentSource::Note {
            let last = last_heading_line(file, &section.lines).unwrap_or(first);
            let text = LocatedText { text: heading.clone(), lines: (first, last) };
            found.push(Document { kind: heading, ..file.document(source, text) });
        }
    }
    found
}

/// The lines of a section without its heading, and without an empty heading above it.
pub(super) fn below_heading(file: &CollectedFile<'_>, section: &Range<usize>) -> Range<usize> {
    let is_above = |at: &usize| {
        matches!(
            file.lines[*at].kind,
            LineKind::Heading { .. }
                | LineKind::HeadingContinuation { .. }
                | LineKind::Blank
                | LineKind::Comment
        )
    };
    section.clone().find(|at| !is_above(at)).unwrap_or(section.end)..section.end
}

/// The number of the last line of a section's headings. The words of an underlined one can have several lines.
pub(super) fn last_heading_line(file: &CollectedFile<'_>, section: &Range<usize>) -> Option<u32> {
    let is_heading = |at: &usize| {
        matches!(file.lines[*at].kind, LineKind::Heading { .. } | LineKind::HeadingContinuation { .. })
    };
    section.clone().rev().find(is_heading).map(|at| number(&file.lines[at]))
}

/// Finds runs of lines that `belongs` accepts.
pub(super) fn matching_runs(lines: Range<usize>, belongs: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in lines.filter(|at| belongs(*at)) {
        match runs.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

#[derive(Debug)]
struct NoteSection {
    lines: Range<usize>,
    heading: Option<String>,
    /// The number of words below the heading.
    words: usize,
}

fn sections(lines: &[MarkdownLine<'_>], range: Range<usize>) -> Vec<NoteSection> {
    let mut sections: Vec<NoteSection> = Vec::new();
    for at in range {
        match (&lines[at].kind, sections.last_mut()) {
            (LineKind::Heading { title, .. }, _) => {
                let heading = Some(one_line(title, MAX_TITLE_CHARS));
                sections.push(NoteSection { lines: at..at + 1, heading, words: 0 });
            }
            (_, Some(last)) => {
                last.lines.end = at + 1;
                last.words += count_words(&lines[at]);
            }
            (_, None) => {
                sections.push(NoteSection {
                    lines: at..at + 1,
                    heading: None,
                    words: count_words(&lines[at]),
                });
            }
        }
    }
    sections
}

fn count_words(line: &MarkdownLine<'_>) -> usize {
    match line.kind {
        LineKind::Comment | LineKind::Frontmatter | LineKind::HeadingContinuation { .. } => 0,
        _ if line.text.is_ascii() => {
            let is_space = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
            let bytes = line.text.as_bytes();
            let begins = |pair: &[u8]| is_space(&pair[0]) && !is_space(&pair[1]);
            usize::from(bytes.first().is_some_and(|first| !is_space(first)))
                + bytes.windows(2).filter(|pair| begins(pair)).count()
        }
        _ => line.text.split_whitespace().count() + line.text.chars().filter(|c| is_unspaced(*c)).count() / 2,
    }
}

/// Merges short sections with their neighbours. The title of the result is the first heading with text, below
/// the empty headings before it.
fn join_small_sections(sections: Vec<NoteSection>) -> Vec<NoteSection> {
    let mut all: Vec<NoteSection> = Vec::new();
    for section in sections {
        match all.last_mut() {
            Some(last)
                if last.words.min(section.words) < MIN_SECTION_WORDS
                    && last.words + section.words <= MIN_MERGED_WORDS =>
            {
                last.lines.end = section.lines.end;
                if last.words == 0 && section.words > 0 {
                    let names: Vec<String> = last.heading.take().into_iter().chain(section.heading).collect();
                    last.heading = (!names.is_empty()).then(|| names.join(TITLE_SEPARATOR));
                }
                last.words += section.words;
            }
            _ => all.push(section),
        }
    }
    all
}

/// Splits a long run of lines at blank lines, or at any line if no blank line is near.
fn split_lines(lines: &[MarkdownLine<'_>], range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    // A word has at least two bytes with its separator, so most sections need no exact count.
    let at_most: usize = lines[range.clone()].iter().map(|line| line.text.len().div_ceil(2)).sum();
    if at_most <= MAX_SECTION_WORDS {
        return vec![range];
    }
    let (mut start, mut count) = (range.start, 0);
    for at in range.clone() {
        let own = count_words(&lines[at]);
        let is_full =
            count + own > MAX_SECTION_WORDS && (lines[at].is_blank() || count + own > 2 * MAX_SECTION_WORDS);
        if is_full && count > 0 {
            parts.push(start..at);
            (start, count) = (at, 0);
        }
        count += own;
    }
    parts.push(start..range.end);
    parts
}

fn number(line: &MarkdownLine<'_>) -> u32 {
    u32::try_from(line.number).unwrap_or(u32::MAX)
}
