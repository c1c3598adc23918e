//! The two changes of `MEMORY.md`: append a statement, and supersede an old one.

use std::ops::Range;

use jiff::civil::Date;

use super::parse::{self, CommentMark, find_comment, first_line, is_id, read_item};
use super::{Error, MemoryChange, MemoryItem, StatementMark, StatementOutcome};
use crate::base::provenance::Origin;
use crate::base::scope::Scope;
use crate::base::time::day;
use crate::vault::escape::{self, EscapeStyle, normalise_line, normalise_text};
use crate::vault::lines::blocks::parse_fence;
use crate::vault::lines::{self, LineInsertion, LineKind, MarkdownLine, heading_words, splice};
use crate::vault::scope_mark;

/// Adds `statement` to `section` as `- (date) statement` (REV-12).
///
/// A proposal is added only once, even if the person has moved its line. A statement that the section
/// contains already is merged. If the section does not exist, the statement goes under `## Reflected (date)`,
/// with the name of the section it was meant for.
pub fn append(
    text: &str,
    section: &str,
    date: Date,
    statement: &str,
    mark: &StatementMark,
) -> Result<MemoryChange, Error> {
    let statement = checked(statement, mark)?;
    let lines = lines::read(text)?;
    if is_promoted(&lines, mark) {
        return Ok(MemoryChange { text: text.to_owned(), outcome: StatementOutcome::AlreadyThere });
    }
    let target =
        parse::find(&lines, section).map(|part| InsertionTarget { section: part.clone(), list: part });
    Ok(add(text, &lines, target, section, &StatementAddition { statement: &statement, date, mark }))
}

/// Replaces `old` by `statement`: the old item is struck through and dated, the new one is added to its
/// section.
pub fn supersede(
    text: &str,
    old: &MemoryItem,
    date: Date,
    statement: &str,
    mark: &StatementMark,
) -> Result<MemoryChange, Error> {
    let statement = checked(statement, mark)?;
    let lines = lines::read(text)?;
    let moved = Error::Moved { line: old.line };
    let at = old.line.checked_sub(1).filter(|at| *at < lines.len()).ok_or(moved.clone())?;
    if !matches!(lines[at].kind, LineKind::Item { .. }) || read_item(&lines, at) != *old {
        return Err(moved);
    }
    if is_promoted(&lines, mark) {
        return Ok(MemoryChange { text: text.to_owned(), outcome: StatementOutcome::AlreadyThere });
    }
    let addition = StatementAddition { statement: &statement, date, mark };
    let target = target_around(&lines, at);
    if old.superseded.is_some() || gist(&old.text) == gist(&statement) {
        return Ok(add(text, &lines, Some(target), "", &addition));
    }
    let struck = strike_item(text, &lines, at, date).ok_or(Error::Unfit { line: old.line })?;
    let lines = lines::read(&struck)?;
    Ok(add(&struck, &lines, Some(target), "", &addition))
}

struct StatementAddition<'a> {
    statement: &'a str,
    date: Date,
    mark: &'a StatementMark,
}

fn checked(statement: &str, mark: &StatementMark) -> Result<String, Error> {
    if mark.id.as_ref().is_some_and(|id| !is_id(id)) {
        return Err(Error::Id);
    }
    let statement = normalise_text(statement);
    if statement.is_empty() { Err(Error::Empty) } else { Ok(statement) }
}

fn is_promoted(lines: &[MarkdownLine<'_>], mark: &StatementMark) -> bool {
    mark.id.as_ref().is_some_and(|id| has_id(lines, id))
}

fn has_id(lines: &[MarkdownLine<'_>], id: &str) -> bool {
    let carries = |line: &MarkdownLine<'_>| {
        find_comment(line.text).is_some_and(|(_, noted)| noted.ids.iter().any(|one| one == id))
    };
    lines.iter().any(|line| !matches!(line.kind, LineKind::Fence | LineKind::Frontmatter) && carries(line))
}

/// The place of a statement, in line indexes.
struct InsertionTarget {
    /// The section to search for an equal statement.
    section: Range<usize>,
    /// The heading and its content to add the statement to.
    list: Range<usize>,
}

/// The section around line `at`, and its part under the nearest heading, so that a successor goes to the same
/// list.
fn target_around(lines: &[MarkdownLine<'_>], at: usize) -> InsertionTarget {
    let is_heading = |at: &usize| matches!(lines[*at].kind, LineKind::Heading { .. });
    let start = (0..at).rev().find(is_heading).unwrap_or(0);
    let end = (at..lines.len()).find(is_heading).unwrap_or(lines.len());
    let section = parse::section_ranges(lines).into_iter().find(|part| part.contains(&at)).unwrap_or(0..end);
    InsertionTarget { section, list: start..end }
}

fn add(
    text: &str,
    lines: &[MarkdownLine<'_>],
    target: Option<InsertionTarget>,
    section: &str,
    addition: &StatementAddition<'_>,
) -> MemoryChange {
    let fits = target.and_then(|target| add_to(text, lines, target, addition));
    fits.unwrap_or_else(|| reflect(text, lines, section, addition))
}

/// Adds to `target`. `None` if an item there would alter the role of the lines around it.
fn add_to(
    text: &str,
    lines: &[MarkdownLine<'_>],
    target: InsertionTarget,
    addition: &StatementAddition<'_>,
) -> Option<MemoryChange> {
    let statement_gist = gist(addition.statement);
    let says_it = |at: &usize| {
        let item = read_item(lines, *at);
        item.superseded.is_none() && holds_for(&item, addition.mark) && gist(&item.text) == statement_gist
    };
    if let Some(at) = parse::items(lines, target.section).into_iter().find(says_it) {
        let text = note(text, &lines[at], addition.mark);
        return Some(MemoryChange { text, outcome: StatementOutcome::Merged });
    }
    let appended = insertion_points(lines, target.list)
        .into_iter()
        .find_map(|at| insert_item(text, lines, at, addition));
    appended.map(|text| MemoryChange { text, outcome: StatementOutcome::Appended })
}

/// Possible positions of a new item: behind the section's last list, or at the end of the text before its
/// first deeper heading.
fn insertion_points(lines: &[MarkdownLine<'_>], part: Range<usize>) -> Vec<usize> {
    let deeper = |at: &usize| matches!(lines[*at].kind, LineKind::Heading { .. });
    let end = part.clone().skip(1).find(deeper).unwrap_or(part.end);
    let last_list = parse::items(lines, part.start..end).pop().map(|at| lines::item_lines(lines, at).end);
    let last_words = (part.start..end).rev().find(|at| !lines[*at].is_blank()).map(|at| at + 1);
    last_list.into_iter().chain(last_words).collect()
}

fn insert_item(
    text: &str,
    lines: &[MarkdownLine<'_>],
    at: usize,
    addition: &StatementAddition<'_>,
) -> Option<String> {
    let after_item = at.checked_sub(1).is_some_and(|before| lines[before].depth > 0);
    // A list may touch the next heading or item, but text would become part of the new item.
    let touches = lines.get(at).is_some_and(|next| {
        matches!(next.kind, LineKind::Item { .. } | LineKind::Heading { underlined: false, .. }) && after_item
    });
    let insertion =
        LineInsertion { at, block: render_item(addition), blank_before: !after_item, blank_behind: !touches };
    insertion.apply(text, lines)
}

/// True if an item applies wherever the new statement applies.
fn holds_for(item: &MemoryItem, mark: &StatementMark) -> bool {
    match (&item.project, &mark.project) {
        (None, _) => true,
        (Some(theirs), Some(ours)) => ours.matches_name(theirs.as_str()),
        (Some(_), None) => false,
    }
}

fn render_item(addition: &StatementAddition<'_>) -> String {
    let StatementMark { id, origin, project } = addition.mark;
    let noted = CommentMark::new(id.as_ref(), *origin, addition.statement.lines().count() == 1);
    let head = format!("- ({}) ", day(addition.date));
    let scope = project.clone().map_or(Scope::Global, Scope::Project);
    let first = addition.statement.lines().next().unwrap_or_default();
    let mark = [first, addition.statement].iter().find_map(|words| scope_mark::required_mark(words, &scope));
    let mark = mark.map(|mark| format!(" {mark}")).unwrap_or_default();
    escape::item(&head, addition.statement, &format!("{mark} {}", noted.render()), EscapeStyle::Blocks)
}

/// Adds under `## Reflected (date)`, with the name of the requested section (REV-15).
fn reflect(
    text: &str,
    lines: &[MarkdownLine<'_>],
    section: &str,
    addition: &StatementAddition<'_>,
) -> MemoryChange {
    let section = normalise_line(section);
    let gap = if addition.statement.lines().next().and_then(parse_fence).is_some() { "\n" } else { " " };
    let statement = match section.as_str() {
        "" => addition.statement.to_owned(),
        section => format!("**{section}:**{gap}{}", addition.statement),
    };
    let addition = StatementAddition { statement: &statement, ..*addition };
    let title = format!("Reflected ({})", day(addition.date));
    let is_reflected = |part: &Range<usize>| {
        matches!(lines[part.start].kind, LineKind::Heading { title: other, .. }
            if heading_words(other) == "reflected" && other.contains(&day(addition.date)))
    };
    let existing = parse::section_ranges(lines).into_iter().find(is_reflected);
    let target = existing.map(|part| InsertionTarget { section: part.clone(), list: part });
    if let Some(change) = target.and_then(|target| add_to(text, lines, target, &addition)) {
        let outcome = if change.outcome == StatementOutcome::Appended {
            StatementOutcome::Reflected
        } else {
            change.outcome
        };
        return MemoryChange { text: change.text, outcome };
    }
    let why = "_Learnt from your sessions and not sorted in. Move each line where it belongs._";
    let block = format!("## {title}\n\n{why}\n\n{}", render_item(&addition));
    let insertion = LineInsertion { at: lines.len(), block, blank_before: true, blank_behind: false };
    let (position, block) = insertion.bytes(text, lines);
    MemoryChange { text: splice(text, position..position, &block), outcome: StatementOutcome::Reflected }
}

/// Records the proposal behind an item with the same meaning. The item's own bytes stay.
fn note(text: &str, line: &MarkdownLine<'_>, mark: &StatementMark) -> String {
    let LineKind::Item { content, .. } = line.kind else { return text.to_owned() };
    let first = first_line(line.text, content);
    let Some((range, mut noted)) = first.mark else {
        // The words are the person's, so they get no origin of ours.
        let comment = mark.id.as_ref().filter(|_| can_take_comment(&line.text[first.words.clone()]));
        let at = line.text_start + first.words.end;
        let id = |id: &String| CommentMark { ids: vec![id.clone()], ..CommentMark::default() }.render();
        return comment.map_or_else(|| text.to_owned(), |own| splice(text, at..at, &format!(" {}", id(own))));
    };
    noted.ids.extend(mark.id.clone());
    noted.origin = noted.origin.map(|before| more_trusted(before, mark.origin));
    splice(text, line.text_start + range.start..line.text_start + range.end, &noted.render())
}

fn more_trusted(one: Origin, other: Origin) -> Origin {
    Origin::ALL.into_iter().find(|origin| *origin == one || *origin == other).unwrap_or(one)
}

/// True if a comment behind `words` would be parsed as one: not inside of code or another comment, and not
/// behind a backslash.
fn can_take_comment(words: &str) -> bool {
    !words.is_empty() && !words.contains(['`', '<']) && !words.ends_with('\\') && parse_fence(words).is_none()
}

/// Strikes through the item at `at`. `None` if that would alter the role of any line.
fn strike_item(text: &str, lines: &[MarkdownLine<'_>], at: usize, date: Date) -> Option<String> {
    let line = &lines[at];
    let LineKind::Item { content, .. } = line.kind else { return None };
    let words = first_line(line.text, content).words;
    let struck = parse::strike_words(&line.text[words.clone()], date);
    let gap = if words.is_empty() { " " } else { "" };
    let range = line.text_start + words.start..line.text_start + words.end;
    let changed = splice(text, range, &format!("{struck}{gap}"));
    let same =
        lines.iter().zip(&lines::parse_lines(&changed).lines).all(|(old, new)| old.has_same_structure(new));
    same.then_some(changed)
}

/// A statement reduced to its meaning: without emphasis, code ticks, case and punctuation at the end of
/// words. Signs inside of words stay, so that `C++` and `C#` or `-r` and `-R` differ. A duplicate costs less
/// than losing one of two statements.
fn gist(statement: &str) -> String {
    let unticked = statement.replace('`', "");
    let words = unticked.split_whitespace().map(|word| {
        let word = emphasis_off(word).trim_end_matches(['.', ',', ';', ':', '!']);
        let plain = word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’'));
        if plain { word.to_lowercase() } else { word.to_owned() }
    });
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Removes emphasis stars: those of `**never**` and `*never*`, but not that of `*.rs`.
fn emphasis_off(word: &str) -> &str {
    let stars = |c: char| c == '*';
    let start = word.trim_start_matches(stars);
    let word = if start.starts_with(char::is_alphanumeric) { start } else { word };
    let end = word.trim_end_matches(stars);
    if end.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | ',' | ';' | ':' | '!')) {
        end
    } else {
        word
    }
}
