//! Splices into JSON text. Each edit has an exact inverse: an insertion can be removed without a trace.

use std::ops::Range;

use serde::Serialize;
use serde_json::Value;

use super::parse::{JsoncToken, JsoncTokenKind, parse, trivia_from};
use super::{Error, JsonNode, JsonPathStep, JsoncDocument};

impl JsoncDocument {
    /// Appends a value to an object (with a key) or to an array (without), in the style of its neighbours. If
    /// the container was empty, returns the white space that it held, for [`JsoncDocument::remove`].
    pub fn append(
        &mut self,
        container: &[JsonPathStep<'_>],
        key: Option<&str>,
        value: &Value,
    ) -> Result<Option<String>, Error> {
        let node = self.find(container)?;
        if !node.is_array() && !node.is_object() {
            return Err(self.error(node, "this value cannot hold another item"));
        }
        let (children, close) = (node.children(), node.span.end - 1);
        let style = self.style(node, &children);
        let rendered = style.member(key, value);
        if let Some(last) = children.last() {
            let end = last.end;
            if style.compact {
                self.splice(vec![(end..end, format!(", {rendered}"))])?;
            } else {
                // A comment at the end of the line belongs to the value before it and stays there.
                let after = self.end_of_line_comments(end);
                let separator = format!("{}{}", style.newline, style.indent);
                self.splice(vec![
                    (end..end, ",".to_owned()),
                    (after..after, format!("{separator}{rendered}")),
                ])?;
            }
            return Ok(None);
        }
        let start =
            self.last_comment(node.span.start + 1).map_or(node.span.start + 1, |token| token.span.end);
        let blank = self.text[start..close].to_owned();
        let inside = if style.compact {
            format!("{rendered}{blank}")
        } else {
            let tail = match blank.contains('\n') {
                true => blank.clone(),
                false => format!("{}{}", style.newline, style.outer),
            };
            format!("{}{}{rendered}{tail}", style.newline, style.indent)
        };
        self.splice(vec![(start..close, inside)])?;
        Ok(Some(blank))
    }

    /// Removes the value at an index of an object or array, with its comma. If it was the only one, `blank`
    /// takes its place. Comments stay.
    pub fn remove(&mut self, container: &[JsonPathStep<'_>], index: usize, blank: &str) -> Result<(), Error> {
        let node = self.find(container)?;
        let (children, open, close) = (node.children(), node.span.start + 1, node.span.end - 1);
        let Some(ours) = children.get(index).cloned() else {
            return Err(self.error(node, "there is nothing to remove"));
        };
        let previous = index.checked_sub(1).map(|at| children[at].end);
        let before = trivia_from(&self.text, previous.unwrap_or(open));
        let after = trivia_from(&self.text, ours.end);
        let edge = before.last().map_or(previous.unwrap_or(open), |token| token.span.end);
        let comma =
            |tokens: &[JsoncToken]| tokens.iter().find(|token| token.kind == JsoncTokenKind::Comma).cloned();
        let mut cuts: Vec<(Range<usize>, String)> = Vec::new();
        if let Some(next) = comma(&after) {
            cuts.push((edge..ours.end, String::new()));
            // Remove white space between the value and its comma, but keep a comment.
            let bare = after.first() == Some(&next);
            let start = if bare { ours.end } else { next.span.start };
            cuts.push((start..next.span.end, String::new()));
        } else if let (Some(separator), Some(_)) = (comma(&before), previous) {
            if separator.span.end != edge {
                cuts.push((separator.span.clone(), String::new()));
                cuts.push((edge..ours.end, String::new()));
            } else {
                cuts.push((separator.span.start..ours.end, String::new()));
            }
        } else if after.is_empty() {
            cuts.push((edge..close, blank.to_owned()));
        } else {
            cuts.push((edge..ours.end, String::new()));
        }
        // A line comment would swallow whatever comes to stand after it.
        if before.last().is_some_and(|token| token.kind == JsoncTokenKind::Line)
            && let Some(at) = cuts.iter().position(|(range, _)| range.start == edge)
        {
            let mut rest = cuts[at].1.clone();
            let mut from = cuts[at].0.end;
            for (range, _) in &cuts[at + 1..] {
                rest.push_str(&self.text[from..range.start]);
                from = range.end;
            }
            rest.push_str(&self.text[from..]);
            if !rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                cuts[at].1.insert_str(0, newline(&self.text));
            }
        }
        self.splice(cuts)
    }

    /// Replaces the value at a path.
    pub fn replace(&mut self, path: &[JsonPathStep<'_>], value: &Value) -> Result<(), Error> {
        let node = self.find(path)?;
        let span = node.span.clone();
        let one_line = !self.text[span.clone()].contains('\n');
        let indent = line_indent(&self.text, span.start).to_owned();
        let rendered = match one_line {
            true => compact(value),
            false => pretty(value, &self.unit(), newline(&self.text), &indent),
        };
        self.splice(vec![(span, rendered)])
    }

    fn find(&self, path: &[JsonPathStep<'_>]) -> Result<&JsonNode, Error> {
        self.get(path).ok_or_else(|| {
            let path: Vec<String> = path.iter().map(ToString::to_string).collect();
            self.error(&self.root, format!("there is no `{}`", path.join(".")))
        })
    }

    /// Applies cuts, which must be in text order and must not overlap, and parses the result.
    fn splice(&mut self, cuts: Vec<(Range<usize>, String)>) -> Result<(), Error> {
        let mut text = self.text.clone();
        for (range, new) in cuts.into_iter().rev() {
            text.replace_range(range, &new);
        }
        self.root = parse(&text, self.dialect)?;
        self.text = text;
        Ok(())
    }

    /// The end of the comments that follow a value on its line, or the value's own end if there are none.
    fn end_of_line_comments(&self, end: usize) -> usize {
        let mut at = end;
        for token in trivia_from(&self.text, end) {
            if token.kind == JsoncTokenKind::Comma || self.text[at..token.span.end].contains('\n') {
                break;
            }
            at = token.span.end;
        }
        at
    }

    fn last_comment(&self, from: usize) -> Option<JsoncToken> {
        trivia_from(&self.text, from).into_iter().rfind(|token| token.kind != JsoncTokenKind::Comma)
    }

    /// The formatting of a container, taken from its last value.
    fn style(&self, node: &JsonNode, children: &[Range<usize>]) -> JsonStyle {
        let text = &self.text;
        let one_line = |span: &Range<usize>| !text[span.clone()].contains('\n');
        let compact = match children {
            [] => !self.root.is_empty() && one_line(&self.root.span),
            _ => one_line(&node.span),
        };
        let outer = line_indent(text, node.span.start).to_owned();
        let unit = self.unit();
        let indent = match children.last().and_then(|last| own_line(text, last.start)) {
            Some(indent) => indent.to_owned(),
            None => format!("{outer}{unit}"),
        };
        JsonStyle { compact, newline: newline(text), unit, outer, indent }
    }

    /// One level of indentation, as the document uses it.
    fn unit(&self) -> String {
        let first = self.root.children().into_iter().find_map(|child| own_line(&self.text, child.start));
        first.unwrap_or("  ").to_owned()
    }
}

struct JsonStyle {
    compact: bool,
    newline: &'static str,
    unit: String,
    outer: String,
    indent: String,
}

impl JsonStyle {
    fn member(&self, key: Option<&str>, value: &Value) -> String {
        let value = match self.compact {
            true => compact(value),
            false => pretty(value, &self.unit, self.newline, &self.indent),
        };
        key.map_or(value.clone(), |key| format!("{}: {value}", Value::from(key)))
    }
}

/// A new document with this value, pretty-printed.
pub fn render_value(value: &Value) -> String {
    pretty(value, "  ", "\n", "") + "\n"
}

fn pretty(value: &Value, unit: &str, newline: &str, indent: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // Serialising a value cannot fail; if it did, the compact form is a fallback.
    let text = match value.serialize(&mut serializer) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => value.to_string(),
    };
    text.replace('\n', &format!("{newline}{indent}"))
}

/// Formats a value on one line, with spaces after colons and commas.
fn compact(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), compact(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        scalar => scalar.to_string(),
    }
}

/// The line end of a text, taken from its first line.
fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The white space at the start of the line that contains `at`.
fn line_indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// The indentation before `at`, if nothing else precedes it on its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let start = line_start(text, at);
    let before = &text[start..at];
    (start > 0 && before.trim_start_matches([' ', '\t']).is_empty()).then_some(before)
}
