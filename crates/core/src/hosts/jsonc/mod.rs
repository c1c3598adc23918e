//! Edits JSON files that other programs own: changes one place and keeps every other byte (B-15).
//!
//! Parsing and serialising would lose a person's formatting: order, spacing, comments, line ends. So the text
//! stays the source of truth. [`JsoncDocument`] knows the position of every value, and an edit is a splice.

mod edit;
mod parse;

use std::fmt;
use std::ops::Range;

use serde_json::Value;
use thiserror::Error;

pub use edit::render_value;

/// The JSON dialect that the owner of a file understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonDialect {
    /// Standard JSON without comments.
    Plain,
    /// JSON with `//` and `/* */`.
    Commented,
}

/// A syntax or structure error with its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} (line {line}, column {column})")]
pub struct Error {
    /// The error in words.
    pub what: String,
    /// The line number, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
}

impl Error {
    fn error_at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self { what: what.into(), line, column: before[start..].trim_start_matches(BOM).chars().count() + 1 }
    }
}

/// The byte order mark that some editors write. It is not part of the JSON and stays where it is.
pub const BOM: char = '\u{feff}';

/// One step of a path into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonPathStep<'a> {
    /// The value of a key. Of a duplicated key the last counts, as for other readers of the file.
    Key(&'a str),
    /// The value at an index.
    Index(usize),
}

impl fmt::Display for JsonPathStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// A value with its position in the text.
#[derive(Clone, Debug)]
pub struct JsonNode {
    span: Range<usize>,
    kind: JsonNodeKind,
}

#[derive(Clone, Debug)]
enum JsonNodeKind {
    Object(Vec<JsonMember>),
    Array(Vec<JsonNode>),
    Scalar(Value),
}

#[derive(Clone, Debug)]
struct JsonMember {
    key: String,
    /// From the key to the end of the value.
    span: Range<usize>,
    value: JsonNode,
}

impl JsonNode {
    /// True if the value is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.kind, JsonNodeKind::Object(_))
    }

    /// The values of an array; empty for other types.
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            JsonNodeKind::Array(items) => items,
            _ => &[],
        }
    }

    /// True if the value is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, JsonNodeKind::Array(_))
    }

    /// The keys of an object in text order, duplicates included.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let members = if let JsonNodeKind::Object(members) = &self.kind { members.as_slice() } else { &[] };
        members.iter().map(|member| member.key.as_str())
    }

    /// The number of members or items; 0 for a scalar.
    pub fn len(&self) -> usize {
        match &self.kind {
            JsonNodeKind::Object(members) => members.len(),
            JsonNodeKind::Array(items) => items.len(),
            JsonNodeKind::Scalar(_) => 0,
        }
    }

    /// True if there are no members or items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of an object's key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.position(key).and_then(|at| match &self.kind {
            JsonNodeKind::Object(members) => Some(&members[at].value),
            _ => None,
        })
    }

    /// The index of a key among the members.
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.kind {
            JsonNodeKind::Object(members) => members.iter().rposition(|member| member.key == key),
            _ => None,
        }
    }

    /// The string, if the value is one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            JsonNodeKind::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The value without positions.
    pub fn value(&self) -> Value {
        match &self.kind {
            JsonNodeKind::Object(members) => {
                members.iter().map(|member| (member.key.clone(), member.value.value())).collect()
            }
            JsonNodeKind::Array(items) => items.iter().map(Self::value).collect(),
            JsonNodeKind::Scalar(value) => value.clone(),
        }
    }

    /// The text ranges of members or items, keys included.
    fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            JsonNodeKind::Object(members) => members.iter().map(|member| member.span.clone()).collect(),
            JsonNodeKind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            JsonNodeKind::Scalar(_) => Vec::new(),
        }
    }
}

/// A JSON text with the position of every value.
#[derive(Clone, Debug)]
pub struct JsoncDocument {
    text: String,
    dialect: JsonDialect,
    root: JsonNode,
}

impl JsoncDocument {
    /// Parses a text that holds exactly one value.
    pub fn parse(text: impl Into<String>, dialect: JsonDialect) -> Result<Self, Error> {
        let text = text.into();
        let root = parse::parse(&text, dialect)?;
        Ok(Self { text, dialect, root })
    }

    /// The current text, after all edits.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Converts the document into its current text.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The outermost value of the document.
    pub fn root(&self) -> &JsonNode {
        &self.root
    }

    /// The value at the end of a path.
    pub fn get(&self, path: &[JsonPathStep<'_>]) -> Option<&JsonNode> {
        path.iter().try_fold(&self.root, |node, step| match step {
            JsonPathStep::Key(key) => node.get(key),
            JsonPathStep::Index(index) => node.items().get(*index),
        })
    }

    /// True if an object or array has nothing in it, not even a comment.
    pub fn is_bare(&self, path: &[JsonPathStep<'_>]) -> bool {
        let inside = |node: &JsonNode| self.text[node.span.start + 1..node.span.end - 1].trim().is_empty();
        self.get(path).is_some_and(|node| (node.is_object() || node.is_array()) && inside(node))
    }

    /// Creates an error at the position of a value.
    pub fn error(&self, node: &JsonNode, what: impl Into<String>) -> Error {
        Error::error_at(&self.text, node.span.start, what)
    }
}

#[cfg(test)]
mod tests;
