//! Documents: the units of recall. A document is one memory, one line of `MEMORY.md`, one observation or one
//! section of a note.
//!
//! A file of the notes yields any number of documents; [`SourceUnit`] represents the file in the index.
//! Everything here is derived from the Markdown and can be deleted.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::windows::TextWindow;
use crate::base::hash::ContentHash;
use crate::base::provenance::Origin;
use crate::base::scope::ProjectId;
use crate::base::time::Timestamp;
use crate::vault::entry::Confidence;
use crate::vault::priority::Priority;

/// The source that a document was made from.
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
    /// Every source, in order.
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

    /// The source's word in JSON.
    pub fn as_str(self) -> &'static str {
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

/// A unit of recall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// The id by which a person can name it: an entry's own id (`m-…`), a proposal's id, or the path and a
    /// short hash of the text (`Ideas.md#1a2b3c4d`). The same text in the same file keeps its id after every
    /// rebuild.
    pub id: String,
    /// The source that it was made from.
    pub source: DocumentSource,
    /// The path of the file, relative to the notes vault, with `/`.
    pub path: String,
    /// The first and last line in the file, counted from 1, both inclusive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u32, u32)>,
    /// The title, in one line.
    pub title: String,
    /// The text to display, which is searched together with title and tags.
    pub text: String,
    /// Tags that the person gave it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The group of an entry.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The kind of an entry, or the section of a line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The time when it was first written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created: Option<Timestamp>,
    /// The project it belongs to; `None` means every project (B-05).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// The origin of the words that support it (B-01).
    pub origin: Origin,
    /// True if a person saved it, approved it, reworded it or wrote it into their notes.
    pub reviewed: bool,
    /// True if it is in the inbox.
    #[serde(default, skip_serializing_if = "is_false")]
    pub inbox: bool,
    /// True if it is active: not superseded, resolved or archived (REC-10).
    pub active: bool,
    /// True if a person or maintenance marked it as outdated (REC-09).
    #[serde(default, skip_serializing_if = "is_false")]
    pub stale: bool,
    /// The confidence at capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The priority, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// The conversation or document that it is part of. The documents of a thread are consecutive in their
    /// unit, and the neighbours of a hit contribute to its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The speaker, if that is neither the person nor the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Document {
    /// A document of text that a person wrote in a file, with no other properties.
    pub fn unannotated(source: DocumentSource, path: impl Into<String>, text: impl Into<String>) -> Self {
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

    /// The text that search covers: the displayed text with its speaker, title and tags.
    pub fn searched_text(&self) -> String {
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
    /// A window of the searched text as input for a model. Windows after the first repeat the speaker.
    pub fn passage<'t>(&self, searched: &'t str, window: TextWindow) -> Cow<'t, str> {
        let text = searched.get(window.start..window.end).unwrap_or_default();
        match &self.speaker {
            Some(speaker) if window.start > 0 => Cow::Owned(format!("{speaker}: {text}")),
            _ => Cow::Borrowed(text),
        }
    }
}

/// The state of a file at the time its documents were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileStamp {
    /// The modification time, in nanoseconds since 1970.
    pub modified: i64,
    /// The length of the file in bytes.
    pub size: u64,
    /// The hash of the content.
    pub hash: ContentHash,
}

/// A file and all its documents. Without documents, the file is empty or deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SourceUnit {
    /// The path of the file, relative to the notes vault, with `/`.
    pub path: String,
    /// The state of the file when it was read; `None` if it is deleted.
    pub stamp: Option<FileStamp>,
    /// The documents of the file, in order.
    pub documents: Vec<Document>,
}
