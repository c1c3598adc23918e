//! Review channels outside this machine (REV-05…REV-08): how they show proposals, and how answers are read.
//!
//! The store is the source of truth (REV-04): a channel shows a view of it, and an answer is a request.

pub mod signature;
pub mod telegram;
pub mod todoist;

use serde::{Deserialize, Serialize};

use crate::base::decided_by::DecidedBy;
use crate::knowledge::proposal::Proposal;
use crate::text::clean::one_line;
use crate::text::clean_and_redact;

/// The maximum length of a section name in a message, in characters.
const MAX_SECTION_CHARS: usize = 100;
/// The maximum number of quotes per proposal in a message.
const MAX_QUOTES: usize = 3;
/// The maximum length of a quote, in characters.
const MAX_QUOTE_CHARS: usize = 160;

/// A review channel outside this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReviewSurface {
    /// Todoist, with one task per proposal.
    Todoist,
    /// Telegram, with one message and two buttons per proposal.
    Telegram,
}

impl ReviewSurface {
    /// All channels, in a fixed order.
    pub const ALL: [Self; 2] = [Self::Todoist, Self::Telegram];

    /// The channel's name in settings, in the store and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Todoist => "todoist",
            Self::Telegram => "telegram",
        }
    }

    /// The channel's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Todoist => "Todoist",
            Self::Telegram => "Telegram",
        }
    }

    /// The origin recorded for a decision made in this channel.
    pub fn decided_by(self) -> DecidedBy {
        match self {
            Self::Todoist => DecidedBy::Todoist,
            Self::Telegram => DecidedBy::Telegram,
        }
    }
}

/// A proposal as a question to a person. Everything that leaves the machine is built from this type, and its
/// output is sanitised and redacted.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceQuestion<'a> {
    /// The proposal to decide on.
    pub proposal: &'a Proposal,
    /// The text that would be written.
    pub text: &'a str,
}

impl SurfaceQuestion<'_> {
    /// The text that would be written, redacted.
    fn sendable_text(&self) -> String {
        clean_and_redact(self.text).text.trim().to_owned()
    }

    /// The section that it would be written to.
    pub fn section(&self) -> String {
        one_line(&clean_and_redact(&self.proposal.describe_target()).text, MAX_SECTION_CHARS)
    }

    /// The line that it would replace, redacted.
    fn instead_of(&self) -> Option<String> {
        self.proposal.supersedes.as_ref().map(|old| one_line(&clean_and_redact(old).text, MAX_QUOTE_CHARS))
    }

    /// The further step that the person has to take if approval alone is not enough (IDN-05).
    fn last_step(&self) -> Option<String> {
        let file = self.proposal.identity()?;
        Some(format!(
            "Approving creates a patch. `rekindle review apply {}` applies it to {file}.",
            self.proposal.id
        ))
    }

    /// Short quotes from the evidence.
    fn quotes(&self) -> Vec<String> {
        let quotes = self.proposal.evidence.quotes.iter().take(MAX_QUOTES);
        quotes.map(|quote| one_line(&clean_and_redact(quote).text, MAX_QUOTE_CHARS)).collect()
    }
}

/// A person's decision about a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SurfaceAnswer {
    /// Remember it as it is.
    Approve,
    /// Remember it with this text.
    Edit(String),
    /// Do not remember it.
    Reject,
}
