//! JSON that other programs own: read where every value stands, changed in one place, every other byte kept (B-15).
//!
//! A value tree that is written again would lose what a person put into the file: order, spacing, comments, line ends.
//! So the text stays the truth. [`Document`] knows where things are in it, and an edit is a splice.

mod edit;
mod parse;

use std::fmt;
use std::ops::Range;

use serde_json::Value;
use thiserror::Error;

pub use edit::fresh;

/// What the owner of a file understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// JSON as the standard has it.
    Plain,
    /// JSON with `//` and `/* */`.
    Commented,
}

/// Why a text cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what} (line {line}, column {column})")]
pub struct Error {
    /// What is wrong.
    pub what: String,
    /// In which line, from 1.
    pub line: usize,
    /// At which character of it, from 1.
    pub column: usize,
}

impl Error {
    fn at(text: &str, offset: usize, what: impl Into<String>) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let line = before.matches('\n').count() + 1;
        Self { what: what.into(), line, column: before[start..].trim_start_matches(BOM).chars().count() + 1 }
    }
}

/// Some editors put it at the beginning of a file; it is no part of the JSON and stays where it is.
pub const BOM: char = '\u{feff}';

/// One step from a value to one inside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The value of a key. If a key is there twice, the last counts, as it does for those who read the file.
    Key(&'a str),
    /// The value at a place.
    Index(usize),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    span: Range<usize>,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Scalar(Value),
}

#[derive(Clone, Debug)]
struct Member {
    key: String,
    /// From the key to the end of the value.
    span: Range<usize>,
    value: Node,
}

impl Node {
    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.kind, Kind::Object(_))
    }

    /// The values of an array; nothing for anything else.
    pub fn items(&self) -> &[Self] {
        match &self.kind {
            Kind::Array(items) => items,
            _ => &[],
        }
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.kind, Kind::Array(_))
    }

    /// The keys of an object in their order, those that are there twice twice.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let members = if let Kind::Object(members) = &self.kind { members.as_slice() } else { &[] };
        members.iter().map(|member| member.key.as_str())
    }

    /// How many values are in it.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Object(members) => members.len(),
            Kind::Array(items) => items.len(),
            Kind::Scalar(_) => 0,
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a key of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.position(key).and_then(|at| match &self.kind {
            Kind::Object(members) => Some(&members[at].value),
            _ => None,
        })
    }

    /// The place of a key among the members.
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.kind {
            Kind::Object(members) => members.iter().rposition(|member| member.key == key),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// As a value, without where it stands.
    pub fn value(&self) -> Value {
        match &self.kind {
            Kind::Object(members) => {
                members.iter().map(|member| (member.key.clone(), member.value.value())).collect()
            }
            Kind::Array(items) => items.iter().map(Self::value).collect(),
            Kind::Scalar(value) => value.clone(),
        }
    }

    /// Where the values inside stand, keys included.
    fn children(&self) -> Vec<Range<usize>> {
        match &self.kind {
            Kind::Object(members) => members.iter().map(|member| member.span.clone()).collect(),
            Kind::Array(items) => items.iter().map(|item| item.span.clone()).collect(),
            Kind::Scalar(_) => Vec::new(),
        }
    }
}

/// A text and where everything stands in it.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    dialect: Dialect,
    root: Node,
}

impl Document {
    /// Reads a text. It must hold one value.
    pub fn parse(text: impl Into<String>, dialect: Dialect) -> Result<Self, Error> {
        let text = text.into();
        let root = parse::parse(&text, dialect)?;
        Ok(Self { text, dialect, root })
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text as it is now.
    pub fn into_text(self) -> String {
        self.text
    }

    /// The outermost value.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The value at the end of a path.
    pub fn get(&self, path: &[Step<'_>]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, step| match step {
            Step::Key(key) => node.get(key),
            Step::Index(index) => node.items().get(*index),
        })
    }

    /// Whether an object or array has nothing in it, not even a comment.
    pub fn is_bare(&self, path: &[Step<'_>]) -> bool {
        let inside = |node: &Node| self.text[node.span.start + 1..node.span.end - 1].trim().is_empty();
        self.get(path).is_some_and(|node| (node.is_object() || node.is_array()) && inside(node))
    }

    /// An error that points to a value.
    pub fn error(&self, node: &Node, what: impl Into<String>) -> Error {
        Error::at(&self.text, node.span.start, what)
    }
}

#[cfg(test)]
mod tests;
