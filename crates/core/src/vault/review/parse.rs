//! Parses a review page, whoever wrote it.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::render::{FOOTER, FRICTION, INSTRUCTION, OLD_INSTRUCTION, REVIEWER, SECTION, TITLE};
use super::{Id, Place};
use crate::base::scope::Scope;
use crate::base::time;
use crate::vault::comment;
use crate::vault::escape::{self, plain, tidy, tidy_line};
use crate::vault::lines::{self, Broken, Kind, Line, heading_words, item_lines};
use crate::vault::scope_mark;

/// The state of a checkbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The checkbox has no recognised mark.
    Pending,
    /// The checkbox is ticked with `[x]`.
    Approved,
    /// The checkbox is marked with `[-]`.
    Rejected,
}

impl State {
    pub(super) fn mark(self) -> char {
        match self {
            Self::Pending => ' ',
            Self::Approved => 'x',
            Self::Rejected => '-',
        }
    }
}

/// A line of the page with an id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The id of its proposal.
    pub id: Id,
    /// The state of its checkbox.
    pub state: State,
    /// The current title on the page.
    pub title: String,
    /// The current text on the page.
    pub text: String,
    /// The group that it is under.
    pub place: Option<Place>,
    /// The scope that the line names, if any.
    pub scope: Option<Scope>,
    /// The number of its first line.
    pub line: usize,
    /// The byte range of the entry.
    pub range: Range<usize>,
    pub(super) reading: Reading,
    pub(super) shorter: Option<Reading>,
}

/// The footer of a page. A page without one was saved incompletely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    /// The time at which we wrote the page.
    pub updated: Option<Timestamp>,
    /// The version, if the comment below it still exists.
    pub version: Option<String>,
}

/// A parsed review page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The name of the reviewer.
    pub reviewer: Option<String>,
    /// The day of the page.
    pub date: Option<Date>,
    /// True if the page still has its title.
    pub titled: bool,
    /// All lines with an id, in page order.
    pub entries: Vec<Entry>,
    /// The person's own text, except blank lines.
    pub notes: Vec<Range<usize>>,
    /// The last footer of the page.
    pub footer: Option<Footer>,
    pub(super) loose: Vec<(State, Reading)>,
}

/// The words of an item, split as far as possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub(super) title: String,
    pub(super) text: String,
    /// The complete words, for a title that lost its emphasis.
    pub(super) whole: String,
    /// The scope that the line names, if any.
    pub(super) scope: Option<Scope>,
}

/// A block of the page.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// The block's lines, by index.
    pub(super) lines: Range<usize>,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    Title,
    Reviewer(String, Date),
    Instruction,
    Group(Place),
    Entry(Box<Entry>),
    /// A checkbox that lost its id.
    Loose(State, Reading),
    Footer(Option<Timestamp>),
    Version(String),
    Note,
    Blank,
}

/// Parses a page. Unrecognised text is a note. Fails only if the document's structure is ambiguous.
pub fn parse(text: &str) -> Result<Parsed, Broken> {
    let lines = lines::read(text)?;
    let mut parsed = Parsed {
        reviewer: None,
        date: None,
        titled: false,
        entries: Vec::new(),
        notes: Vec::new(),
        footer: None,
        loose: Vec::new(),
    };
    let mut version = None;
    for block in scan(&lines) {
        let range = lines[block.lines.start].start..lines[block.lines.end - 1].end();
        match block.what {
            What::Title => parsed.titled = true,
            What::Reviewer(reviewer, date) => {
                (parsed.reviewer, parsed.date) = (Some(reviewer), Some(date));
            }
            What::Entry(entry) => parsed.entries.push(*entry),
            What::Footer(updated) => parsed.footer = Some(Footer { updated, version: None }),
            What::Version(own) => version = Some(own),
            What::Loose(state, reading) => {
                parsed.loose.push((state, reading));
                parsed.notes.push(range);
            }
            What::Note => parsed.notes.push(range),
            What::Instruction | What::Group(_) | What::Blank => {}
        }
    }
    if let Some(footer) = &mut parsed.footer {
        footer.version = version;
    }
    Ok(parsed)
}

/// Splits the page into blocks.
pub(super) fn scan(lines: &[Line<'_>]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut place = None;
    let mut at = 0;
    while at < lines.len() {
        let (what, end) = block(lines, at, &place);
        if let What::Group(group) = &what {
            place = Some(group.clone());
        }
        blocks.push(Block { lines: at..end, what });
        at = end;
    }
    blocks
}

fn block(lines: &[Line<'_>], at: usize, place: &Option<Place>) -> (What, usize) {
    let line = &lines[at];
    let what = match &line.kind {
        Kind::Blank => What::Blank,
        Kind::Heading { title, underlined, .. } if !underlined => heading(title),
        Kind::Comment => version(line.text).map_or(What::Note, What::Version),
        Kind::Text { lazy } if *lazy || line.depth == 0 => own_line(line.text),
        Kind::Item { content, offset, .. } => {
            let (state, rest) = checkbox(&line.text[*content..]);
            let (id, words) = match id(rest) {
                Some((id, words)) => (Some(id), words),
                None => (None, rest),
            };
            let end = entry_end(lines, at);
            let own = (at + 1..end).find(|at| lines[*at].kind == Kind::Text { lazy: true }).unwrap_or(end);
            let read = |end: usize| Reading::new(words, &lines[at + 1..end], *offset);
            let Some(id) = id else {
                let boxed = rest.len() < line.text[*content..].len();
                return if boxed { (What::Loose(state, read(end)), end) } else { (What::Note, at + 1) };
            };
            let reading = read(end);
            let entry = Entry {
                id,
                state,
                title: reading.title.clone(),
                text: reading.text.clone(),
                place: place.clone(),
                scope: reading.scope.clone(),
                line: line.number,
                range: line.start..lines[end - 1].end(),
                shorter: (own < end).then(|| read(own)),
                reading,
            };
            return (What::Entry(Box::new(entry)), end);
        }
        _ => What::Note,
    };
    (what, at + 1)
}

/// The end of an entry: the end of its list item, or a line in it that is another entry or ours.
fn entry_end(lines: &[Line<'_>], at: usize) -> usize {
    let own = item_lines(lines, at);
    let foreign = |at: &usize| match &lines[*at].kind {
        Kind::Item { content, .. } => id(checkbox(&lines[*at].text[*content..]).1).is_some(),
        Kind::Text { lazy: true } => !matches!(own_line(lines[*at].text), What::Note),
        Kind::Comment => version(lines[*at].text).is_some(),
        _ => false,
    };
    let end = (at + 1..own.end).find(foreign).unwrap_or(own.end);
    // Blank lines before that line do not belong to the entry.
    (at + 1..=end).rev().find(|end| !lines[end - 1].is_blank()).unwrap_or(at + 1)
}

fn heading(title: &str) -> What {
    let words = heading_words(title);
    if words == heading_words(TITLE) {
        return What::Title;
    }
    let lower = title.to_ascii_lowercase();
    if let Some(at) = lower.find(&SECTION.to_ascii_lowercase()) {
        let name = title[at + SECTION.len()..].trim();
        return What::Group(Place::Section(escape::plain_heading(name)));
    }
    if words == heading_words(FRICTION) {
        let dates = title.split(|c: char| !(c.is_ascii_digit() || c == '-'));
        if let Some(date) = dates.filter(|word| word.len() == 10).find_map(|word| word.parse().ok()) {
            return What::Group(Place::Friction(date));
        }
    }
    What::Note
}

/// Classifies a line outside of lists that may be ours.
fn own_line(text: &str) -> What {
    let text = text.trim();
    // Formatters exchange the two emphasis marks.
    let words = text.trim_matches(['_', '*']);
    if let Some(rest) = words.strip_prefix(FOOTER) {
        let word = rest.split_whitespace().next().unwrap_or_default();
        return What::Footer(time::parse(word));
    }
    if [INSTRUCTION, OLD_INSTRUCTION].iter().any(|own| words == own.trim_matches('_')) {
        return What::Instruction;
    }
    let reviewer = || {
        let (name, date) = words.strip_prefix(REVIEWER)?.rsplit_once('|')?;
        let date = date.trim().parse().ok()?;
        Some(What::Reviewer(escape::plain_heading(name.trim()), date))
    };
    reviewer().unwrap_or(What::Note)
}

fn version(text: &str) -> Option<String> {
    comment::value(&comment::parse(text)?, "version").map(str::to_owned)
}

/// Parses the checkbox at the start of `content`, ignoring blanks in it. Returns the rest with it.
fn checkbox(content: &str) -> (State, &str) {
    let inside = content.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((mark, rest)) = inside.filter(|(mark, _)| mark.trim().chars().count() <= 1) else {
        return (State::Pending, content);
    };
    let state = match mark.trim() {
        "x" | "X" | "✓" | "✔" => State::Approved,
        "-" | "–" | "—" => State::Rejected,
        _ => State::Pending,
    };
    (state, rest.trim_start())
}

/// The id before the words, with or without ticks.
fn id(content: &str) -> Option<(Id, &str)> {
    let (id, rest) = Id::prefix(content.trim_start_matches('`'))?;
    Some((id, rest.trim_start_matches('`').trim_start()))
}

impl Reading {
    fn new(words: &str, below: &[Line<'_>], offset: usize) -> Self {
        let below: Vec<&str> = below.iter().map(|line| line.text).collect();
        let joined = escape::joined_item(words, &below, offset);
        let (words, scope) = match scope_mark::split(&joined) {
            Some((words, scope)) => (words, Some(scope)),
            None => (joined.as_str(), None),
        };
        let (title, text) = split(words);
        Self { title, text: tidy(&plain(text)), whole: tidy(&plain(words)), scope }
    }
}

/// Splits words into title and text: by emphasis, or by the first possible dash between them.
fn split(words: &str) -> (String, &str) {
    if let Some((title, rest)) =
        words.strip_prefix("**").and_then(|rest| rest.split_at_checked(closing_stars(rest)?))
    {
        let rest = rest.strip_prefix("**").unwrap_or(rest);
        return (plain_title(title), after_dash(rest).unwrap_or(rest));
    }
    if let Some(text) = after_dash(words) {
        return (String::new(), text);
    }
    let dashes = [" — ", " – ", " -- ", " - ", ": "];
    match dashes.iter().find_map(|dash| words.split_once(dash)) {
        Some((title, text)) => (tidy_line(&plain(title)), text),
        None => (String::new(), words),
    }
}

/// The text behind a dash or colon at the start of `text`.
pub(super) fn after_dash(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let rest = ["—", "–", "--", "-", ":"].iter().find_map(|dash| text.strip_prefix(dash))?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(rest)
}

/// The position of the first unescaped `**`.
fn closing_stars(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if !escaped && text[at..].starts_with("**") {
            return Some(at);
        }
        escaped = !escaped && c == '\\';
    }
    None
}

/// The inverse of the title escape in `render`.
fn plain_title(title: &str) -> String {
    let mut out = String::with_capacity(title.len());
    let mut rest = title.chars().peekable();
    while let Some(c) = rest.next() {
        let escape = c == '\\' && rest.peek().is_some_and(|next| matches!(next, '\\' | '*' | '<'));
        out.push(if escape { rest.next().unwrap_or(c) } else { c });
    }
    tidy_line(&out)
}
