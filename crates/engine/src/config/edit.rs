//! Changes one setting in TOML text and no other byte.
//!
//! `toml_edit` finds the place and formats the value; the text itself is spliced. Rendering the whole
//! document would turn CRLF into LF and regroup dotted keys in a file that belongs to the user.

use std::ops::Range;

use rekindle_core::config::SettingValue;
use toml_edit::{Document, InlineTable, Item, Table};

/// Formats a value as TOML.
pub(super) fn render(value: &SettingValue) -> String {
    let value: toml_edit::Value = match value {
        SettingValue::Bool(value) => (*value).into(),
        SettingValue::Whole(value) => (*value).into(),
        SettingValue::Fraction(value) => (*value).into(),
        SettingValue::Text(value) => value.as_str().into(),
        SettingValue::List(values) | SettingValue::Words(values) => {
            values.iter().map(String::as_str).collect()
        }
    };
    value.to_string()
}

/// The text with the key set. `None` if the text is not TOML, or if something other than a value has the
/// key's place.
pub(super) fn set(text: &str, key: &str, value: &SettingValue) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let value = render(value);
    let spot = locate(document.as_table(), key)?;
    if let Some(found) = spot.value {
        return Some(splice(text, found, &value));
    }

    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let entry = format!("{} = {value}", spot.name);
    match spot.body {
        TableBody::Inline(table) => {
            let at = table.get_values().iter().filter_map(|(_, value)| Some(value.span()?.end)).max();
            match at {
                Some(at) => Some(splice(text, at..at, &format!(", {entry}"))),
                None => Some(splice(text, inner_range(table)?, &format!(" {entry} "))),
            }
        }
        TableBody::Lines(table) => {
            let last = table.get_values().iter().filter_map(|(_, value)| Some(value.span()?.end)).max();
            let (at, ended) = after_line(text, last.or_else(|| Some(table.span()?.end))?);
            let line = if ended { format!("{entry}{newline}") } else { format!("{newline}{entry}{newline}") };
            Some(splice(text, at..at, &line))
        }
        TableBody::New(header) => {
            let gap = match text.trim_start_matches('\u{feff}') {
                "" => String::new(),
                text if text.ends_with('\n') => newline.to_owned(),
                _ => newline.repeat(2),
            };
            let at = text.len();
            Some(splice(text, at..at, &format!("{gap}[{header}]{newline}{entry}{newline}")))
        }
    }
}

/// The text without the key, or unchanged if the key is not set. `None` as for [`set`].
pub(super) fn unset(text: &str, key: &str) -> Option<String> {
    let document = Document::parse(text).ok()?;
    let spot = locate(document.as_table(), key)?;
    let Some(found) = spot.value else { return Some(text.to_owned()) };
    match spot.body {
        TableBody::Inline(table) => {
            let mut spans: Vec<_> = table.get_values().iter().filter_map(|(_, value)| value.span()).collect();
            spans.sort_by_key(|span| span.start);
            let index = spans.iter().position(|span| *span == found)?;
            let gone = match (index, spans.len()) {
                (0, 1) => inner_range(table)?,
                (0, _) => inner_range(table)?.start..found.end + text[found.end..].find(',')? + 1,
                // Remove the comma before it too.
                _ => spans[index - 1].end..found.end,
            };
            Some(splice(text, gone, ""))
        }
        TableBody::Lines(_) | TableBody::New(_) => {
            let start = text[..spot.key?.start].rfind('\n').map_or(0, |newline| newline + 1);
            // A byte order mark belongs to the file, not to its first line.
            let start =
                if text[start..].starts_with('\u{feff}') { start + '\u{feff}'.len_utf8() } else { start };
            let (end, _) = after_line(text, found.end);
            // Only blanks or a comment can follow a value on its line.
            let rest = text[found.end..end].trim_start_matches([' ', '\t']);
            let end = if rest.starts_with('#') { end - rest.len() } else { end };
            Some(splice(text, start..end, ""))
        }
    }
}

/// The place of a key, existing or new.
struct KeyLocation<'a> {
    body: TableBody<'a>,
    /// The key as written in that body: the part of the path that the body's own name lacks.
    name: String,
    key: Option<Range<usize>>,
    value: Option<Range<usize>>,
}

#[derive(Clone)]
enum TableBody<'a> {
    /// The lines under a header, or those before the first one.
    Lines(&'a Table),
    /// An inline table in braces.
    Inline(&'a InlineTable),
    /// A new header at the end of the file.
    New(String),
}

fn locate<'a>(root: &'a Table, key: &str) -> Option<KeyLocation<'a>> {
    let (path, leaf) = key.rsplit_once('.')?;
    let mut body = TableBody::Lines(root);
    let mut name: Vec<&str> = Vec::new();
    let mut here: &dyn toml_edit::TableLike = root;
    // A table that exists only because a header names one inside it has no lines of its own.
    let mut implicit = true;

    let segments: Vec<&str> = path.split('.').collect();
    for (depth, segment) in segments.iter().enumerate() {
        let Some(item) = here.get(segment) else {
            // A header cannot reopen a dotted or inline table.
            let pinned = matches!(body, TableBody::Inline(_)) || !name.is_empty();
            if pinned {
                name.extend(&segments[depth..]);
                name.push(leaf);
                return Some(KeyLocation { body, name: name.join("."), key: None, value: None });
            }
            return Some(new_table(path, leaf));
        };
        match item {
            Item::Table(table) => {
                if table.is_dotted() {
                    name.push(segment);
                } else {
                    body = TableBody::Lines(table);
                    name.clear();
                    implicit = table.is_implicit();
                }
                here = table;
            }
            Item::Value(toml_edit::Value::InlineTable(table)) => {
                if table.is_dotted() {
                    name.push(segment);
                } else {
                    body = TableBody::Inline(table);
                    name.clear();
                }
                implicit = false;
                here = table;
            }
            _ => return None,
        }
    }

    let found = here.get_key_value(leaf);
    if found.is_none() && implicit && name.is_empty() {
        return Some(new_table(path, leaf));
    }
    name.push(leaf);
    let (key, value) = match found {
        Some((key, item)) => (key.span(), Some(item.as_value()?.span()?)),
        None => (None, None),
    };
    Some(KeyLocation { body, name: name.join("."), key, value })
}

fn new_table<'a>(path: &str, leaf: &str) -> KeyLocation<'a> {
    KeyLocation { body: TableBody::New(path.to_owned()), name: leaf.to_owned(), key: None, value: None }
}

fn inner_range(table: &InlineTable) -> Option<Range<usize>> {
    let span = table.span()?;
    Some(span.start + 1..span.end.checked_sub(1)?)
}

/// The end of the line with this byte, newline included, and true if it has a newline.
fn after_line(text: &str, at: usize) -> (usize, bool) {
    text[at..].find('\n').map_or((text.len(), false), |newline| (at + newline + 1, true))
}

fn splice(text: &str, gone: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..gone.start], &text[gone.end..])
}
