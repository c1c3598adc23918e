//! What can be recalled: one memory, one line of `MEMORY.md`, one observation, one section of a note.
//!
//! A file of the notes yields any number of documents; [`SourceUnit`] is the file as the index knows it. Everything here is
//! derived from the Markdown and can be thrown away.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::windows::TextWindow;
use crate::base::hash::ContentHash;
use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::Timestamp;
use crate::vault::entry::Confidence;
use crate::vault::priority::Priority;

/// What sort of thing a document was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DocumentSource {
    /// An entry of the vault.
    Entry,
    /// An entry in `personal-skills` (REC-22).
    Skill,
    /// A line of `MEMORY.md`.
    Memory,
    /// An observation, as the daily log holds it.
    Observation,
    /// A proposal that waits for review.
    Proposal,
    /// A section of `Ideas.md`, or a file of the incubator.
    Idea,
    /// Any other part of a daily log.
    Daily,
    /// The person's own notes outside the vault folder (REC-21).
    Note,
    /// A message of a conversation.
    Message,
}

impl DocumentSource {
    /// Every source.
    pub const ALL: [Self; 9] = [
        Self::Entry,
        Self::Skill,
        Self::Memory,
        Self::Observation,
        Self::Proposal,
        Self::Idea,
        Self::Daily,
        Self::Note,
        Self::Message,
    ];

    /// The word in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Entry => "entry",
            Self::Skill => "skill",
            Self::Memory => "memory",
            Self::Observation => "observation",
            Self::Proposal => "proposal",
            Self::Idea => "idea",
            Self::Daily => "daily",
            Self::Note => "note",
            Self::Message => "message",
        }
    }
}

/// One thing that can be recalled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// What a person can name it by: an entry's own id (`m-…`), a proposal's id, else the path and a short hash of the
    /// text (`Ideas.md#1a2b3c4d`). The same text in the same file has the same id after every rebuild.
    pub id: String,
    /// What it was made from.
    pub source: DocumentSource,
    /// The file, below the notes vault, with `/`.
    pub path: String,
    /// The lines of the file it stands on, counted from 1, both included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// One line that names it.
    pub title: String,
    /// What is shown, and searched together with title and tags.
    pub text: String,
    /// The person's own words for finding it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The group of an entry.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind of an entry, the section of a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// When it was written down first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// The project it belongs to; `None` is everywhere (B-05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Whose words support it (B-01).
    pub origin: Origin,
    /// Whether a person saved it, approved it, worded it anew or wrote it into their notes.
    pub reviewed: bool,
    /// Whether it waits in the inbox.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inbox: bool,
    /// Whether it still holds: not superseded, resolved or archived (REC-10).
    pub active: bool,
    /// Marked as outdated by a person or by maintenance (REC-09).
    #[serde(default, skip_serializing_if = "is_false")]
    pub stale: bool,
    /// How sure we were when it was captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How long it is worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The conversation or document it is a part of. Documents of one thread follow each other in their unit, and
    /// neighbours count when one of them is a hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Who said it, where that is neither the person nor the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Document {
    /// What a person wrote in a file, and nothing else is known about it.
    pub fn plain(source: DocumentSource, path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            source,
            path: path.into(),
            lines: None,
            title: String::new(),
            text: text.into(),
            tags: Vec::new(),
            group: String::new(),
            kind: String::new(),
            created: None,
            project: None,
            origin: Origin::User,
            reviewed: true,
            inbox: false,
            active: true,
            stale: false,
            confidence: None,
            priority: None,
            thread: None,
            speaker: None,
        }
    }

    /// The text that is searched: what is shown, with the words that name it.
    pub fn searched(&self) -> String {
        let mut text = String::with_capacity(self.text.len() + 80);
        if let Some(speaker) = &self.speaker {
            text.push_str(speaker);
            text.push_str(": ");
        }
        if !self.text.starts_with(self.title.trim_end_matches('…')) {
            text.push_str(&self.title);
            text.push('\n');
        }
        for tag in &self.tags {
            text.push_str(tag);
            text.push(' ');
        }
        if !self.tags.is_empty() {
            text.push('\n');
        }
        text.push_str(&self.text);
        text
    }
}

impl Document {
    /// A part of the searched text as a model reads it: who said it is part of what was said, wherever it is cut.
    pub fn passage<'t>(&self, searched: &'t str, window: TextWindow) -> Cow<'t, str> {
        let text = searched.get(window.start..window.end).unwrap_or_default();
        match &self.speaker {
            Some(speaker) if window.start > 0 => Cow::Owned(format!("{speaker}: {text}")),
            _ => Cow::Borrowed(text),
        }
    }
}

/// A file as it was when its documents were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// When it was last changed, in nanoseconds since 1970.
    pub modified: i64,
    /// Its length in bytes.
    pub size: u64,
    /// Its content.
    pub hash: ContentHash,
}

/// One file and everything in it that can be recalled. No documents: there is nothing in it, or it is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceUnit {
    /// The file, below the notes vault, with `/`.
    pub path: String,
    /// The file as it was read; `None` if it is gone.
    pub stamp: Option<FileStamp>,
    /// What it holds, in order.
    pub documents: Vec<Document>,
}
