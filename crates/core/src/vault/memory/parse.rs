//! Parses `MEMORY.md` into sections and items.

use std::ops::Range;

use jiff::civil::Date;

use super::{BrokenDocument, MemoryItem, MemorySection};
use crate::base::provenance::Origin;
use crate::base::scope::{ProjectId, Scope};
use crate::vault::comment;
use crate::vault::escape::{self, EscapeStyle};
use crate::vault::lines::{self, LineKind, MarkdownLine, heading_words, item_lines};
use crate::vault::review::ProposalId;
use crate::vault::scope_mark;

/// The sections of `text`, in order. Deeper headings are part of their section.
pub fn sections(text: &str) -> Result<Vec<MemorySection>, BrokenDocument> {
    let lines = lines::read(text)?;
    let sections = section_ranges(&lines).into_iter().filter_map(|part| {
        let heading = lines.get(part.start)?;
        let LineKind::Heading { level, title, .. } = heading.kind else { return None };
        let items = items(&lines, part.clone());
        // An underlined heading can have several lines.
        let title: Vec<&str> =
            title.split(['\r', '\n']).map(str::trim).filter(|line| !line.is_empty()).collect();
        Some(MemorySection {
            title: escape::unescape_heading(&title.join(" ")),
            level,
            line: heading.number,
            range: heading.start..lines[part.end - 1].end(),
            items: items.into_iter().map(|at| read_item(&lines, at)).collect(),
        })
    });
    Ok(sections.collect())
}

/// The titles of the sections that can receive a line: those of level 2, or of level 1 if there are none.
pub fn section_titles(text: &str) -> Result<Vec<String>, BrokenDocument> {
    let sections = sections(text)?;
    let of = |level: u8| {
        let titles = sections.iter().filter(|section| section.level == level);
        titles.map(|section| section.title.clone()).collect::<Vec<String>>()
    };
    let usual = of(2);
    Ok(if usual.is_empty() { of(1) } else { usual })
}

/// True if a section's title matches `name`, by words.
pub fn title_matches(title: &str, name: &str) -> bool {
    heading_words(title) == heading_words(name)
}

/// The document without the lines of projects other than `here`; every other byte stays. If the
/// structure is ambiguous, each line is tested separately.
pub fn visible_in(text: &str, here: Option<&str>) -> String {
    let Ok(sections) = sections(text) else {
        let is_hidden = |line: &&str| {
            let at = find_comment(line).map(|(range, _)| range.start).or(comment::find_trailing(line));
            let mark = at.map_or(*line, |at| &line[..at]);
            scope_mark::split(mark).is_some_and(|(_, scope)| !scope.is_visible_in(here))
        };
        return text.split_inclusive('\n').filter(|line| !is_hidden(line)).collect();
    };
    let (mut shown, mut from) = (String::with_capacity(text.len()), 0);
    let items = sections.iter().flat_map(|section| &section.items);
    for item in
        items.filter(|item| !item.project.clone().map_or(Scope::Global, Scope::Project).is_visible_in(here))
    {
        shown.push_str(text.get(from..item.range.start).unwrap_or_default());
        from = item.range.end;
    }
    shown.push_str(text.get(from..).unwrap_or_default());
    shown
}

/// The line indexes of each section, including its heading.
pub(super) fn section_ranges(lines: &[MarkdownLine<'_>]) -> Vec<Range<usize>> {
    let is_start = |line: &MarkdownLine<'_>| matches!(line.kind, LineKind::Heading { level: 1..=2, .. });
    let starts: Vec<usize> = (0..lines.len()).filter(|at| is_start(&lines[*at])).collect();
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// The section whose heading matches `name`; level 2 before a document title.
pub(super) fn find(lines: &[MarkdownLine<'_>], name: &str) -> Option<Range<usize>> {
    let words = heading_words(name);
    let titled = |part: &Range<usize>, wanted: u8| {
        matches!(lines[part.start].kind, LineKind::Heading { level, title, .. }
            if level == wanted && heading_words(&escape::unescape_heading(title)) == words)
    };
    let parts = section_ranges(lines);
    [2, 1].into_iter().find_map(|level| parts.iter().find(|part| titled(part, level)).cloned())
}

/// The line indexes of the outermost items of `part`.
pub(super) fn items(lines: &[MarkdownLine<'_>], part: Range<usize>) -> Vec<usize> {
    part.filter(|at| matches!(lines[*at].kind, LineKind::Item { depth: 1, .. })).collect()
}

/// The parts of an item's first line, as byte ranges of the line's text.
pub(super) struct ItemFirstLine {
    /// The statement's words on this line.
    pub(super) words: Range<usize>,
    /// The date before them.
    pub(super) date: Option<Date>,
    /// Our comment behind them.
    pub(super) mark: Option<(Range<usize>, CommentMark)>,
}

/// Our mark behind a statement: a comment with ids and the origin, and in new lines the first id as a block id
/// (`^p-20261115-001`), to which note apps can link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CommentMark {
    pub(super) ids: Vec<String>,
    pub(super) origin: Option<Origin>,
    /// True if the first id is a block id.
    pub(super) is_block: bool,
}

impl CommentMark {
    /// The mark of a new line. `is_whole` is true if the statement ends on the line of its mark: elsewhere, note apps
    /// would show the block id as text.
    pub(super) fn new(id: Option<&String>, origin: Origin, is_whole: bool) -> Self {
        let is_block = is_whole && id.is_some_and(|id| id.parse::<ProposalId>().is_ok());
        Self { ids: id.into_iter().cloned().collect(), origin: Some(origin), is_block }
    }

    pub(super) fn render(&self) -> String {
        let (block, ids) = match self.ids.split_first().filter(|_| self.is_block) {
            Some((block, ids)) => (Some(format!("^{block}")), ids),
            None => (None, self.ids.as_slice()),
        };
        let origin = self.origin.map(|origin| origin.as_str().to_owned());
        let words: Vec<String> = ids.iter().cloned().chain(origin).collect();
        let comment = (!words.is_empty()).then(|| format!("<!-- {} -->", words.join(" ")));
        comment.into_iter().chain(block).collect::<Vec<_>>().join(" ")
    }

    /// Parses a comment that contains only ids and one origin. Any other is the person's.
    fn parse(comment: &str) -> Option<Self> {
        let inner = comment.trim().strip_prefix("<!--")?.strip_suffix("-->")?;
        let mut noted = Self::default();
        for word in inner.split_whitespace() {
            match word.parse::<Origin>() {
                Ok(origin) if noted.origin.is_none() => noted.origin = Some(origin),
                _ if is_id(word) => noted.ids.push(word.to_owned()),
                _ => return None,
            }
        }
        (noted != Self::default()).then_some(noted)
    }
}

/// The text before a block id of ours at the end of a line, and the id. Any other block id is the person's.
fn split_block_id(text: &str) -> Option<(&str, &str)> {
    let (before, id) = text.trim_end().rsplit_once('^')?;
    let is_apart = before.ends_with([' ', '\t']);
    (is_apart && id.parse::<ProposalId>().is_ok()).then_some((before, id))
}

/// True if `text` can be an id in a comment: `p-20261115-001`, `m-4k2…`.
pub(super) fn is_id(text: &str) -> bool {
    let Some((letter, rest)) = text.split_once('-') else { return false };
    letter.len() == 1
        && letter.bytes().all(|b| b.is_ascii_lowercase())
        && rest.split('-').all(|part| {
            !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        })
}

/// Our mark at the end of a line, with its range in the line's text.
pub(super) fn find_comment(text: &str) -> Option<(Range<usize>, CommentMark)> {
    let end = text.trim_end().len();
    let comment = |text: &str| {
        let start = comment::find_trailing(text)?;
        Some((start, CommentMark::parse(text[start..].trim_end())?))
    };
    let Some((before, id)) = split_block_id(text) else {
        return comment(text).map(|(start, noted)| (start..end, noted));
    };
    let (start, mut noted) = comment(before).unwrap_or((before.len(), CommentMark::default()));
    noted.ids.insert(0, id.to_owned());
    noted.is_block = true;
    Some((start..end, noted))
}

pub(super) fn first_line(text: &str, content: usize) -> ItemFirstLine {
    let mark = find_comment(text).filter(|(range, _)| range.start >= content);
    let end = mark.as_ref().map_or(text.len(), |(range, _)| range.start);
    let (date, skipped) = parse_date(&text[content..end], "(");
    let start = content + skipped;
    let words = text[start..end].trim();
    let start = start + (text[start..end].len() - text[start..end].trim_start().len());
    ItemFirstLine { words: start..start + words.len(), date, mark }
}

/// Parses `(YYYY-MM-DD)` at the start of `text`, with `open` in place of the bracket. Returns the date and
/// its length in bytes.
fn parse_date(text: &str, open: &str) -> (Option<Date>, usize) {
    let read = || {
        let inner = text.strip_prefix(open)?;
        let date = inner.get(..10)?.parse().ok()?;
        inner.get(10..)?.starts_with(')').then_some((date, open.len() + 11))
    };
    read().map_or((None, 0), |(date, length): (Date, usize)| (Some(date), length))
}

const SUPERSEDED_PREFIX: &str = "(superseded ";

/// The words struck through, with a note of the date.
pub(super) fn strike_words(words: &str, date: Date) -> String {
    let note = format!("{SUPERSEDED_PREFIX}{})", crate::base::time::day(date));
    if words.is_empty() {
        note
    } else if words.starts_with('~') || words.ends_with('~') {
        // Three tildes at the start of an item would open a code block.
        format!("{note} ~~{words}~~")
    } else {
        format!("~~{words}~~ {note}")
    }
}

/// The inverse of [`strike`].
fn struck(words: &str) -> Option<(Date, &str)> {
    if let (Some(date), length) = parse_date(words, SUPERSEDED_PREFIX) {
        let rest = words[length..].trim_start();
        return Some((
            date,
            rest.strip_prefix("~~").and_then(|rest| rest.strip_suffix("~~")).unwrap_or(rest),
        ));
    }
    let at = words.rfind(SUPERSEDED_PREFIX)?;
    let (Some(date), length) = parse_date(&words[at..], SUPERSEDED_PREFIX) else { return None };
    let inner = words[..at].trim_end().strip_prefix("~~")?.strip_suffix("~~")?;
    (at + length == words.len()).then_some((date, inner))
}

/// Reads the item that begins at line index `at`.
pub(super) fn read_item(lines: &[MarkdownLine<'_>], at: usize) -> MemoryItem {
    let own = item_lines(lines, at);
    let line = &lines[at];
    let (content, offset) = match line.kind {
        LineKind::Item { content, offset, .. } => (content, offset),
        _ => (0, 0),
    };
    let first = first_line(line.text, content);
    let words = &line.text[first.words.clone()];
    // A mark behind the strike-through counts like one inside of it.
    let marked = scope_mark::split(words).and_then(|(words, scope)| Some((struck(words)?, scope)));
    let (superseded, words, outer) = match (struck(words), marked) {
        (Some((date, words)), _) => (Some(date), words, None),
        (None, Some(((date, words), scope))) => (Some(date), words, scope.project().cloned()),
        (None, None) => (None, words, None),
    };
    let below: Vec<&str> = lines[own.clone()].iter().skip(1).map(|line| line.text).collect();
    let noted = first.mark.map(|(_, noted)| noted).unwrap_or_default();
    let (text, project) = scoped(words, &below, offset);
    let project = project.or(outer);
    MemoryItem {
        text,
        project,
        date: first.date,
        superseded,
        ids: noted.ids,
        origin: noted.origin,
        line: line.number,
        range: line.start..lines[own.end - 1].end(),
    }
}

/// The statement of an item without its scope mark, and the project in that mark. We write the mark at the
/// end of the first line; an editor that wraps lines moves it to the end of the last.
fn scoped(words: &str, below: &[&str], offset: usize) -> (String, Option<ProjectId>) {
    let plain = |words: &str| escape::unescape_item(words, below, offset, EscapeStyle::Blocks);
    let of = |scope: Scope| scope.project().cloned();
    if let Some((words, scope)) = scope_mark::split(words) {
        return (plain(words), of(scope));
    }
    let text = plain(words);
    match scope_mark::split(&text) {
        Some((words, scope)) => (words.to_owned(), of(scope)),
        None => (text, None),
    }
}
