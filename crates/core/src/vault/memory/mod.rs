//! `MEMORY.md`, the curated memory (FND-03): its sections and items, and the two changes that Rekindle makes.
//!
//! Nothing here deletes (REV-13). A statement is appended, merged into an equal one, or marked as superseded
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
use super::lines::BrokenDocument;
use crate::base::provenance::Origin;
use crate::base::scope;
use crate::base::scope::ProjectId;

pub use change::{append, supersede};
pub use parse::{section_titles, sections, title_matches, visible_in};

/// The sections of every `MEMORY.md`, after the one named after the user (FND-04, FBK-05).
pub const FIXED_SECTIONS: [&str; 4] = ["Hard Rules", "System Architecture", "Patterns", "Lessons"];

/// The introduction of a new `MEMORY.md`, below its title.
pub const INTRODUCTION: &str =
    "_What every session starts with. Yours to edit: Rekindle adds lines and removes none._";

/// A section: a heading of level 1 or 2, and everything up to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemorySection {
    /// The heading's words as written.
    pub title: String,
    /// The heading level, 1 or 2.
    pub level: u8,
    /// The heading's line number.
    pub line: usize,
    /// The section's byte range, including its heading.
    pub range: Range<usize>,
    /// Its outermost list items.
    pub items: Vec<MemoryItem>,
}

/// A list item with everything indented below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// The statement, without bullet, date, mark or strike-through.
    pub text: String,
    /// The `(YYYY-MM-DD)` before it.
    #[serde(with = "as_text::option")]
    pub date: Option<Date>,
    /// The day on which a newer statement replaced it.
    #[serde(with = "as_text::option")]
    pub superseded: Option<Date>,
    /// The ids of the proposals it came from.
    pub ids: Vec<String>,
    /// The author of the words, if recorded.
    pub origin: Option<Origin>,
    /// The project in which it applies, from the text. `None` means everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The number of its first line.
    pub line: usize,
    /// Its byte range, including the ending of its last line.
    pub range: Range<usize>,
}

/// The machine data behind a statement: a comment and a block id. It prevents adding a proposal twice (REV-12).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatementMark {
    /// The proposal it came from.
    pub id: Option<String>,
    /// The author of the words.
    pub origin: Origin,
    /// The project in which it applies; `None` means everywhere. It is written as text behind the
    /// statement, not in the comment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

impl MemoryItem {
    /// True if the item is shown in `here`: it applies there or everywhere, and is not superseded.
    pub fn is_visible_in(&self, here: Option<&str>) -> bool {
        let project = self.project.as_ref().map(ProjectId::as_str);
        self.superseded.is_none() && scope::is_project_visible_in(project, here)
    }
}

/// The outcome of adding a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatementOutcome {
    /// A new item at the end of the section's list.
    Appended,
    /// A new item under `## Reflected (…)`, because the section does not exist (REV-15).
    Reflected,
    /// An equal item exists in the section. At most our comment behind it changed.
    Merged,
    /// The document has this proposal already; nothing changed.
    AlreadyThere,
}

/// The result of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryChange {
    /// The whole document after the change.
    pub text: String,
    /// The outcome of the change.
    pub outcome: StatementOutcome,
}

/// The reason why a change was not made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Error {
    /// The document's structure is ambiguous.
    #[error(transparent)]
    Broken(#[from] BrokenDocument),
    /// The statement has no words.
    #[error("the statement is empty")]
    Empty,
    /// The id cannot be part of a comment.
    #[error("an id must be a letter, a hyphen, then lowercase letters, digits and single hyphens")]
    Id,
    /// The item is not at its line any more.
    #[error("line {line} has changed; read the document again")]
    Moved {
        /// The line it was at.
        line: usize,
    },
    /// Marking the item would alter the role of the lines around it.
    #[error("line {line} cannot be marked without changing the lines around it; mark it by hand")]
    Unfit {
        /// The item's first line.
        line: usize,
    },
}

/// The title of the section about the user (GEN-01); `User` if no name is set.
pub fn user_section(user: &str) -> String {
    let name = escape::normalise_line(user);
    if name.is_empty() { "User".to_owned() } else { name }
}

/// A new document, with the user's own section first (GEN-01).
pub fn render_new(user: &str) -> String {
    let name = escape::heading(&user_section(user));
    let mut text = format!("# Memory\n\n{INTRODUCTION}\n");
    for section in std::iter::once(name.as_str()).chain(FIXED_SECTIONS) {
        text.push_str(&format!("\n## {section}\n"));
    }
    text
}
