//! Which lines of a message the person typed, and which of them may be somebody else's (B-01, R-19).
//!
//! People paste logs, mails, pages and documents between their own words. There is one filter for it, for whoever looks for
//! wishes, rules or facts:
//!
//! - What is marked as somebody else's is nobody's word: code between fences, quotations, lines of a log, tables, HTML, what an
//!   announcement brings ("here is the log:"). Such lines are empty here.
//! - Where text that others wrote has no mark at its end (a mail, a document with headings, HTML, a diff, a log, hard-wrapped
//!   text, whatever stands below "summarise this"), nobody can tell where the person goes on. From its first line on, a line
//!   is not certain: what it states is proposed, never saved.
//! - A message of very many lines, or one that ends as a letter or a page does, is somebody else's as a whole.
//! - Fenced code may hold the mark of a fence: what stands between the first fence and the last is not certain.
//!
//! Everything else is typed. Two or three plain lines, a list of wishes, words around fenced code: people write like that, and
//! it is kept at once.

mod signs;
#[cfg(test)]
mod tests;
mod words;

use self::signs::{announces, is_field, is_marked, is_weak_field};
use crate::text::sentences;

/// A message of more lines than this was not typed line by line.
const MAX_TYPED_LINES: usize = 12;
/// So many lines of a head make a mail, where one alone may be the person's own.
const WEAK_FIELDS: usize = 2;

/// A line of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TypedLine<'a> {
    /// Its text, trimmed; empty if it is not the person's.
    pub text: &'a str,
    /// Whether it is certain that the person typed it.
    pub certain: bool,
}

/// The lines of a message that the person may have typed.
pub(crate) fn lines(message: &str) -> Vec<TypedLine<'_>> {
    let foreign = foreign_from(message);
    let between = between_fences(message);
    let mut announced = Announced::No;
    sentences::lines(message)
        .into_iter()
        .map(|text| {
            let at = text.as_ptr().addr().wrapping_sub(message.as_ptr().addr());
            let certain = text.is_empty() || at < foreign && !between.contains(&at);
            announced = match announced {
                // The blank line may stand in front of what is announced, or behind it.
                Announced::Begun if text.is_empty() => Announced::No,
                Announced::Next | Announced::Begun if !text.is_empty() => Announced::Begun,
                other => other,
            };
            if announced == Announced::Begun || is_marked(text) {
                return TypedLine { text: "", certain: true };
            }
            if announces(text) {
                announced = Announced::Next;
            }
            TypedLine { text, certain }
        })
        .collect()
}

/// How far something that was announced has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Announced {
    No,
    Next,
    Begun,
}

/// Where text begins that others may have written and that has no mark at its end; the length of the message if there is none.
fn foreign_from(message: &str) -> usize {
    let Plain { lines, blocks } = unfenced(message);
    let place = |line: &str| line.as_ptr().addr().wrapping_sub(message.as_ptr().addr());
    let filled = lines.iter().filter(|line| !line.trim().is_empty()).count();
    if filled > MAX_TYPED_LINES || signs::ends_document(&lines) {
        return 0;
    }
    let has_head = lines.iter().filter(|line| is_weak_field(line) || is_field(line)).count() >= WEAK_FIELDS;
    let begins = |number: &usize| {
        begins(&lines, *number)
            || has_head && is_weak_field(lines[*number])
            || handed_over(&lines, &blocks, *number)
    };
    (0..lines.len()).find(begins).map_or(message.len(), |number| place(lines[number]))
}

/// Whether somebody else's text begins with this line.
fn begins(lines: &[&str], number: usize) -> bool {
    let line = lines[number];
    let next = lines.get(number + 1).copied();
    signs::is_foreign(line)
        || is_field(line)
        || signs::is_code(line)
        || number > 0 && announces(lines[number - 1].trim())
        || next.is_some_and(|next| signs::is_wrapped(line, next) || signs::opens_list(line, next))
        || next.is_some() && (signs::is_title(line) || signs::greets(line))
}

/// Whether the line before this one asks for something to be done with what follows. Where code or a quotation stands between
/// the two (`blocks`: in front of which lines), that is what is meant.
fn handed_over(lines: &[&str], blocks: &[usize], number: usize) -> bool {
    if lines[number].trim().is_empty() {
        return false;
    }
    let Some(before) = (0..number).rev().find(|before| !lines[*before].trim().is_empty()) else {
        return false;
    };
    let apart = number - before > 1 || lines[before].trim_end().ends_with([':', '：']);
    !blocks.iter().any(|block| (before + 1..=number).contains(block))
        && signs::hands_over(lines[before], apart)
}

/// From behind the first fence that is closed to the last mark of a fence: what was fenced may have held such a mark itself.
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
struct Plain<'a> {
    lines: Vec<&'a str>,
    /// In front of which of the lines a fence or a quotation stands.
    blocks: Vec<usize>,
}

fn unfenced(message: &str) -> Plain<'_> {
    let mut fenced = false;
    let mut plain = Plain { lines: Vec::new(), blocks: Vec::new() };
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
