//! Separates typed from pasted text in a message (B-01, R-19).
//!
//! People paste logs, mails, pages and documents between their own words. This filter serves everything that
//! looks for requests, rules or facts:
//!
//! - Text that is marked as somebody else's never counts: fenced code, quotations, log lines, tables, HTML,
//!   and the text after an announcement ("here is the log:"). Such lines are empty in the result.
//! - Foreign text without a mark at its end (a mail, a document with headings, HTML, a diff, a log,
//!   hard-wrapped text, the text below "summarise this") hides where the user goes on. From its first line
//!   on, every line is uncertain: statements in it are proposed, never saved.
//! - A message with very many lines, or with the ending of a letter or a page, is foreign as a whole.
//! - Fenced code may contain the mark of a fence, so everything between the first fence and the last is
//!   uncertain.
//!
//! Everything else counts as typed. Two or three plain lines, a list of requests, words around fenced code:
//! people write like that, and it is kept at once.

mod line_signs;
#[cfg(test)]
mod tests;
mod words;

use self::line_signs::{has_log_prefix, is_announcement, is_field, is_weak_field};
use crate::text::sentences;

/// The maximum number of lines of a typed message.
const MAX_TYPED_LINES: usize = 12;
/// The number of weak header fields that make a mail. A single one may be the user's own.
const MIN_WEAK_FIELDS: usize = 2;

/// A line of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypedLine<'a> {
    /// The trimmed text; empty if it is not the user's.
    pub text: &'a str,
    /// True if the user certainly typed it.
    pub certain: bool,
}

/// The lines of a message that the user may have typed.
pub(crate) fn lines(message: &str) -> Vec<TypedLine<'_>> {
    let foreign = foreign_from(message);
    let between = between_fences(message);
    let mut announced = AnnouncementState::No;
    sentences::lines(message)
        .into_iter()
        .map(|text| {
            let at = text.as_ptr().addr().wrapping_sub(message.as_ptr().addr());
            let certain = text.is_empty() || at < foreign && !between.contains(&at);
            announced = match announced {
                // The blank line may precede or follow the announced text.
                AnnouncementState::Begun if text.is_empty() => AnnouncementState::No,
                AnnouncementState::Next | AnnouncementState::Begun if !text.is_empty() => {
                    AnnouncementState::Begun
                }
                other => other,
            };
            if announced == AnnouncementState::Begun || has_log_prefix(text) {
                return TypedLine { text: "", certain: true };
            }
            if is_announcement(text) {
                announced = AnnouncementState::Next;
            }
            TypedLine { text, certain }
        })
        .collect()
}

/// The progress through an announced text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnnouncementState {
    No,
    Next,
    Begun,
}

/// The offset at which foreign text without an end mark begins, or the length of the message if there is
/// none.
fn foreign_from(message: &str) -> usize {
    let PlainLines { lines, blocks } = unfenced(message);
    let place = |line: &str| line.as_ptr().addr().wrapping_sub(message.as_ptr().addr());
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    if filled > MAX_TYPED_LINES || line_signs::ends_document(&lines) {
        return 0;
    }
    let has_head =
        lines.iter().filter(|line| is_weak_field(line) || is_field(line)).count() >= MIN_WEAK_FIELDS;
    let begins = |number: &usize| {
        begins_foreign_text(&lines, *number)
            || has_head && is_weak_field(lines[*number])
            || handed_over(&lines, &blocks, *number)
    };
    (0..lines.len()).find(begins).map_or(message.len(), |number| place(lines[number]))
}

/// True if foreign text begins with this line.
fn begins_foreign_text(lines: &[&str], number: usize) -> bool {
    let line = lines[number];
    let next = lines.get(number + 1).copied();
    line_signs::is_foreign(line)
        || is_field(line)
        || line_signs::is_code(line)
        || number > 0 && is_announcement(lines[number - 1].trim())
        || next.is_some_and(|next| line_signs::is_wrapped(line, next) || line_signs::opens_list(line, next))
        || next.is_some() && (line_signs::is_title(line) || line_signs::is_greeting(line))
}

/// True if the line before this one asks to do something with the following text. If code or a quotation is
/// between the two (`blocks` lists the lines behind one), the request is about that.
fn handed_over(lines: &[&str], blocks: &[usize], number: usize) -> bool {
    if lines[number].trim().is_empty() {
        return false;
    }
    let Some(before) = (0..number).rev().find(|before| !lines[*before].trim().is_empty()) else {
        return false;
    };
    let apart = number - before > 1 || lines[before].trim_end().ends_with([':', '：']);
    !blocks.iter().any(|block| (before + 1..=number).contains(block))
        && line_signs::is_handover(lines[before], apart)
}

/// The range from behind the first closed fence to the last fence mark. The fenced text may have contained
/// such marks.
fn between_fences(message: &str) -> std::ops::Range<usize> {
    let is_mark = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let place = |line: &str| line.as_ptr().addr().wrapping_sub(message.as_ptr().addr());
    let marks: Vec<usize> = message.lines().filter(is_mark).map(place).collect();
    match (marks.get(1), marks.last()) {
        (Some(closed), Some(last)) if closed < last => *closed..*last,
        _ => 0..0,
    }
}

/// The lines of a message outside of code fences and quotations.
struct PlainLines<'a> {
    lines: Vec<&'a str>,
    /// The lines that follow a fence or a quotation.
    blocks: Vec<usize>,
}

fn unfenced(message: &str) -> PlainLines<'_> {
    let mut fenced = false;
    let mut plain = PlainLines { lines: Vec::new(), blocks: Vec::new() };
    for line in message.lines() {
        let trimmed = line.trim_start();
        let mark = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if !mark && !fenced && !trimmed.starts_with('>') {
            plain.lines.push(line);
        } else if plain.blocks.last() != Some(&plain.lines.len()) {
            plain.blocks.push(plain.lines.len());
        }
        fenced ^= mark;
    }
    plain
}
