//! `MEMORY.md`, the curated product (FND-03): its sections, what is in them, and the two changes we may make.
//!
//! Nothing here deletes (REV-13). A statement is appended, merged into one that says the same, or marked as superseded
//! beside its successor.

mod change;
mod parse;
#[cfg(test)]
mod tests;

use std::ops::Range;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::as_text;
use super::escape;
use super::lines::Broken;
use crate::base::provenance::Origin;
use crate::base::scope;
use crate::base::scope::ProjectId;

pub use change::{append, is_noted, supersede};
pub use parse::{is_titled, section_titles, sections, shown_in};

/// The sections every `MEMORY.md` has behind the one named after the user (FND-04, FBK-05).
pub const FIXED_SECTIONS: [&str; 4] = ["Hard Rules", "System Architecture", "Patterns", "Lessons"];

/// What a new `MEMORY.md` says of itself below its title.
pub const INTRODUCTION: &str =
    "_What every session starts with. Yours to edit: Rekindle adds lines and removes none._";

/// A section: a heading of level 1 or 2, and everything up to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The heading's words as written.
    pub title: String,
    /// 1 or 2.
    pub level: u8,
    /// The heading's line.
    pub line: usize,
    /// The section's bytes, its heading included.
    pub range: Range<usize>,
    /// Its list items, outermost only.
    pub items: Vec<Item>,
}

/// A list item with everything indented below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The statement, without bullet, date, mark or strike.
    pub text: String,
    /// The `(YYYY-MM-DD)` before it.
    #[serde(with = "as_text::option")]
    pub date: Option<Date>,
    /// When a newer statement replaced it.
    #[serde(with = "as_text::option")]
    pub superseded: Option<Date>,
    /// The proposals it came from.
    pub ids: Vec<String>,
    /// Whose words support it, where we noted it.
    pub origin: Option<Origin>,
    /// The project it holds in, as the person or we wrote it; none is everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Its first line.
    pub line: usize,
    /// Its bytes, the ending of its last line included.
    pub range: Range<usize>,
}

/// What is noted behind a statement in a comment, so that promoting it twice adds it once (REV-12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The proposal it came from.
    pub id: Option<String>,
    /// Whose words support it.
    pub origin: Origin,
    /// The project it holds in; none is everywhere. That is no comment: people read it behind the statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

impl Item {
    /// Whether it is shown in `here`: it holds there or everywhere, and nothing took its place.
    pub fn is_shown(&self, here: Option<&str>) -> bool {
        let project = self.project.as_ref().map(ProjectId::as_str);
        self.superseded.is_none() && scope::is_shown(project, here)
    }
}

/// What became of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A new item at the end of the section's list.
    Appended,
    /// A new item under `## Reflected (…)`: the document has no such section (REV-15).
    Reflected,
    /// An item of the section says the same; at most our comment behind it changed.
    Merged,
    /// The same proposal is in the document; nothing changed.
    AlreadyThere,
}

/// A changed document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The whole document after the change.
    pub text: String,
    /// What was done.
    pub outcome: Outcome,
}

/// Why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The document's structure is not certain.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// There are no words to append.
    #[error("a statement needs words")]
    Empty,
    /// The id could not stand in the comment.
    #[error("an id is a letter, a hyphen, then lowercase letters, digits and single hyphens")]
    Id,
    /// The item is not where it was when the document was read.
    #[error("line {line} is no longer the item it was; read the document again")]
    Moved {
        /// Where it was.
        line: usize,
    },
    /// Marking the item would change what the lines around it are.
    #[error("line {line} cannot be marked without changing the lines around it; mark it by hand")]
    Unfit {
        /// The item's first line.
        line: usize,
    },
}

/// The title of the section about the person (GEN-01); somebody without a name is the user.
pub fn user_section(user: &str) -> String {
    let name = escape::tidy_line(user);
    if name.is_empty() { "User".to_owned() } else { name }
}

/// A fresh document, with the user's own section first (GEN-01).
pub fn render_new(user: &str) -> String {
    let name = escape::heading(&user_section(user));
    let mut text = format!("# Memory\n\n{INTRODUCTION}\n");
    for section in std::iter::once(name.as_str()).chain(FIXED_SECTIONS) {
        text.push_str(&format!("\n## {section}\n"));
    }
    text
}
