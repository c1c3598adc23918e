//! Parses a review page, whoever wrote it.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::render::{FOOTER, FRICTION, INSTRUCTION, OLD_INSTRUCTION, REVIEWER, SECTION, TITLE};
use super::{ProposalId, ProposalPlace};
use crate::base::scope::Scope;
use crate::base::time;
use crate::vault::comment;
use crate::vault::escape::{self, normalise_line, normalise_text, unescape_inline};
use crate::vault::lines::{self, BrokenDocument, LineKind, MarkdownLine, heading_words, item_lines};
use crate::vault::scope_mark;

/// The state of a checkbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckboxState {
    /// The checkbox has no recognised mark.
    Pending,
    /// The checkbox is ticked with `[x]`.
    Approved,
    /// The checkbox is marked with `[-]`.
    Rejected,
}

impl CheckboxState {
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
pub struct PageEntry {
    /// The id of its proposal.
    pub id: ProposalId,
    /// The state of its checkbox.
    pub state: CheckboxState,
    /// The current title on the page.
    pub title: String,
    /// The current text on the page.
    pub text: String,
    /// The group that it is under.
    pub place: Option<ProposalPlace>,
    /// The scope that the line names, if any.
    pub scope: Option<Scope>,
    /// The number of its first line.
    pub line: usize,
    /// The byte range of the entry.
    pub range: Range<usize>,
    pub(super) reading: ParsedItem,
    pub(super) shorter: Option<ParsedItem>,
}

/// The footer of a page. A page without one was saved incompletely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageFooter {
    /// The time at which we wrote the page.
    pub updated: Option<Timestamp>,
    /// The version, if the comment below it still exists.
    pub version: Option<String>,
}

/// A parsed review page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedPage {
    /// The name of the reviewer.
    pub reviewer: Option<String>,
    /// The day of the page.
    pub date: Option<Date>,
    /// True if the page still has its title.
    pub titled: bool,
    /// All lines with an id, in page order.
    pub entries: Vec<PageEntry>,
    /// The person's own text, except blank lines.
    pub notes: Vec<Range<usize>>,
    /// The last footer of the page.
    pub footer: Option<PageFooter>,
    pub(super) loose: Vec<(CheckboxState, ParsedItem)>,
}

/// The words of an item, split as far as possible.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParsedItem {
    pub(super) title: String,
    pub(super) text: String,
    /// The complete words, for a title that lost its emphasis.
    pub(super) whole: String,
    /// The scope that the line names, if any.
    pub(super) scope: Option<Scope>,
}

/// A block of the page.
#[derive(Clone, Debug)]
pub(super) struct PageBlock {
    /// The block's lines, by index.
    pub(super) lines: Range<usize>,
    pub(super) content: BlockContent,
}

#[derive(Clone, Debug)]
pub(super) enum BlockContent {
    Title,
    Reviewer(String, Date),
    Instruction,
    Group(ProposalPlace),
    Entry(Box<PageEntry>),
    /// A checkbox that lost its id.
    Loose(CheckboxState, ParsedItem),
    Footer(Option<Timestamp>),
    Version(String),
    Note,
    Blank,
}

/// Parses a page. Unrecognised text is a note. Fails only if the document's structure is ambiguous.
pub fn parse(text: &str) -> Result<ParsedPage, BrokenDocument> {
    let lines = lines::read(text)?;
    let mut parsed = ParsedPage {
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
        match block.content {
            BlockContent::Title => parsed.titled = true,
            BlockContent::Reviewer(reviewer, date) => {
                (parsed.reviewer, parsed.date) = (Some(reviewer), Some(date));
            }
            BlockContent::Entry(entry) => parsed.entries.push(*entry),
            BlockContent::Footer(updated) => parsed.footer = Some(PageFooter { updated, version: None }),
            BlockContent::Version(own) => version = Some(own),
            BlockContent::Loose(state, reading) => {
                parsed.loose.push((state, reading));
                parsed.notes.push(range);
            }
            BlockContent::Note => parsed.notes.push(range),
            BlockContent::Instruction | BlockContent::Group(_) | BlockContent::Blank => {}
        }
    }
    if let Some(footer) = &mut parsed.footer {
        footer.version = version;
    }
    Ok(parsed)
}

/// Splits the page into blocks.
pub(super) fn scan(lines: &[MarkdownLine<'_>]) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    let mut place = None;
    let mut at = 0;
    while at < lines.len() {
        let (what, end) = block(lines, at, &place);
        if let BlockContent::Group(group) = &what {
            place = Some(group.clone());
        }
        blocks.push(PageBlock { lines: at..end, content: what });
        at = end;
    }
    blocks
}

fn block(lines: &[MarkdownLine<'_>], at: usize, place: &Option<ProposalPlace>) -> (BlockContent, usize) {
    let line = &lines[at];
    let what = match &line.kind {
        LineKind::Blank => BlockContent::Blank,
        LineKind::Heading { title, underlined, .. } if !underlined => heading(title),
        LineKind::Comment => version(line.text).map_or(BlockContent::Note, BlockContent::Version),
        LineKind::Text { lazy } if *lazy || line.depth == 0 => own_line(line.text),
        LineKind::Item { content, offset, .. } => {
            let (state, rest) = checkbox(&line.text[*content..]);
            let (id, words) = match id(rest) {
                Some((id, words)) => (Some(id), words),
                None => (None, rest),
            };
            let end = entry_end(lines, at);
            let own =
                (at + 1..end).find(|at| lines[*at].kind == LineKind::Text { lazy: true }).unwrap_or(end);
            let read = |end: usize| ParsedItem::new(words, &lines[at + 1..end], *offset);
            let Some(id) = id else {
                let boxed = rest.len() < line.text[*content..].len();
                return if boxed {
                    (BlockContent::Loose(state, read(end)), end)
                } else {
                    (BlockContent::Note, at + 1)
                };
            };
            let reading = read(end);
            let entry = PageEntry {
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
            return (BlockContent::Entry(Box::new(entry)), end);
        }
        _ => BlockContent::Note,
    };
    (what, at + 1)
}

/// The end of an entry: the end of its list item, or a line in it that is another entry or ours.
fn entry_end(lines: &[MarkdownLine<'_>], at: usize) -> usize {
    let own = item_lines(lines, at);
    let foreign = |at: &usize| match &lines[*at].kind {
        LineKind::Item { content, .. } => id(checkbox(&lines[*at].text[*content..]).1).is_some(),
        LineKind::Text { lazy: true } => !matches!(own_line(lines[*at].text), BlockContent::Note),
        LineKind::Comment => version(lines[*at].text).is_some(),
        _ => false,
    };
    let end = (at + 1..own.end).find(foreign).unwrap_or(own.end);
    // Blank lines before that line do not belong to the entry.
    (at + 1..=end).rev().find(|end| !lines[end - 1].is_blank()).unwrap_or(at + 1)
}

fn heading(title: &str) -> BlockContent {
    let words = heading_words(title);
    if words == heading_words(TITLE) {
        return BlockContent::Title;
    }
    let lower = title.to_ascii_lowercase();
    if let Some(at) = lower.find(&SECTION.to_ascii_lowercase()) {
        let name = title[at + SECTION.len()..].trim();
        return BlockContent::Group(ProposalPlace::Section(escape::unescape_heading(name)));
    }
    if words == heading_words(FRICTION) {
        let dates = title.split(|c: char| !(c.is_ascii_digit() || c == '-'));
        if let Some(date) = dates.filter(|word| word.len() == 10).find_map(|word| word.parse().ok()) {
            return BlockContent::Group(ProposalPlace::Friction(date));
        }
    }
    BlockContent::Note
}

/// Classifies a line outside of lists that may be ours.
fn own_line(text: &str) -> BlockContent {
    let text = text.trim();
    // Formatters exchange the two emphasis marks.
    let words = text.trim_matches(['_', '*']);
    if let Some(rest) = words.strip_prefix(FOOTER) {
        let word = rest.split_whitespace().next().unwrap_or_default();
        return BlockContent::Footer(time::parse(word));
    }
    if [INSTRUCTION, OLD_INSTRUCTION].iter().any(|own| words == own.trim_matches('_')) {
        return BlockContent::Instruction;
    }
    let reviewer = || {
        let (name, date) = words.strip_prefix(REVIEWER)?.rsplit_once('|')?;
        let date = date.trim().parse().ok()?;
        Some(BlockContent::Reviewer(escape::unescape_heading(name.trim()), date))
    };
    reviewer().unwrap_or(BlockContent::Note)
}

fn version(text: &str) -> Option<String> {
    comment::value(&comment::parse(text)?, "version").map(str::to_owned)
}

/// Parses the checkbox at the start of `content`, ignoring blanks in it. Returns the rest with it.
fn checkbox(content: &str) -> (CheckboxState, &str) {
    let inside = content.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let Some((mark, rest)) = inside.filter(|(mark, _)| mark.trim().chars().count() <= 1) else {
        return (CheckboxState::Pending, content);
    };
    let state = match mark.trim() {
        "x" | "X" | "✓" | "✔" => CheckboxState::Approved,
        "-" | "–" | "—" => CheckboxState::Rejected,
        _ => CheckboxState::Pending,
    };
    (state, rest.trim_start())
}

/// The id before the words, with or without ticks.
fn id(content: &str) -> Option<(ProposalId, &str)> {
    let (id, rest) = ProposalId::strip_id(content.trim_start_matches('`'))?;
    Some((id, rest.trim_start_matches('`').trim_start()))
}

impl ParsedItem {
    fn new(words: &str, below: &[MarkdownLine<'_>], offset: usize) -> Self {
        let below: Vec<&str> = below.iter().map(|line| line.text).collect();
        let joined = escape::join_item(words, &below, offset);
        let (words, scope) = match scope_mark::split(&joined) {
            Some((words, scope)) => (words, Some(scope)),
            None => (joined.as_str(), None),
        };
        let (title, text) = split(words);
        Self {
            title,
            text: normalise_text(&unescape_inline(text)),
            whole: normalise_text(&unescape_inline(words)),
            scope,
        }
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
        Some((title, text)) => (normalise_line(&unescape_inline(title)), text),
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
    normalise_line(&out)
}
