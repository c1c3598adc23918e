//! The author of an entry, as far as the host marks it: the user, a program that drives the host, or neither
//!

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::ClaudeEntry;

/// Entry points for typed input. Any other belongs to a program: `sdk-*`, CI actions, unknown ones.
const INTERACTIVE_ENTRYPOINTS: &[&str] = &["cli", "remote", "local-agent"];
/// Entry points for typed input that pass it on through the SDK, so that their prompts are also marked `sdk`.
const SDK_ENTRYPOINTS: &[&str] =
    &["claude-vscode", "claude-jetbrains", "claude-desktop", "claude-desktop-3p"];
/// User types that are people.
const PERSON_USER_KINDS: &[&str] = &["external", "ant"];
/// Prompt sources for input that a person typed or a program gave.
const PROMPT_SOURCES: &[&str] = &["typed", "queued", SDK];
/// Turn origins for input that a person typed or a program gave.
const TURN_TRIGGERS: &[&str] = &[HUMAN, SDK];
const HUMAN: &str = "human";
const SDK: &str = "sdk";

/// The author of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryAuthor {
    /// The user, by typing.
    Person,
    /// A program that started or drives the host: `claude -p`, the SDK.
    Program,
    /// A schedule, a hook, another agent, the host itself, or an unknown source.
    Other,
}

/// A host's mark on an entry. Every JSON value parses, so that none makes the line unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum HostMark {
    #[default]
    Absent,
    Word(String),
    Unknown,
}

impl HostMark {
    fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(marked) if marked == word)
    }

    /// True if the mark is absent or one of `words`.
    fn is_absent_or_one_of(&self, words: &[&str]) -> bool {
        match self {
            Self::Absent => true,
            Self::Word(word) => words.contains(&word.as_str()),
            Self::Unknown => false,
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        *self == Self::Absent
    }

    /// True if this `origin` is compatible with a user's text.
    pub(super) fn is_human_origin(&self) -> bool {
        self.is_absent_or_one_of(&[HUMAN])
    }
}

impl<'de> Deserialize<'de> for HostMark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Self::Absent,
            Value::String(word) => Self::Word(word),
            // `origin` is an object with a `kind` field.
            Value::Object(mut fields) => match fields.remove("kind") {
                Some(Value::String(kind)) => Self::Word(kind),
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        })
    }
}

impl ClaudeEntry<'_> {
    /// True if the host marks the source of this text in any way.
    pub(super) fn is_attributed(&self) -> bool {
        !(self.origin.is_absent() && self.prompt_source.is_absent() && self.turn_origin.is_absent())
    }

    /// True if the host positively marks this as a prompt. Older versions marked only entries that were not
    /// prompts.
    pub(super) fn is_prompt_mark(&self) -> bool {
        let says = |mark: &HostMark, words: &[&str]| !mark.is_absent() && mark.is_absent_or_one_of(words);
        says(&self.origin, &[HUMAN])
            || says(&self.prompt_source, PROMPT_SOURCES)
            || says(&self.turn_origin, TURN_TRIGGERS)
    }

    /// The author of this entry's text. `marked` means that this version of the host marks every prompt, so
    /// that an unmarked text has no author.
    pub(super) fn author(&self, marked: bool) -> EntryAuthor {
        let is_hosts = self.is_meta
            || self.is_synthetic
            || self.is_visible_in_transcript_only
            || self.repeats_compact_summary
            || self.scheduled_task_id.is_some();
        let allowed = self.user_type.is_absent_or_one_of(PERSON_USER_KINDS)
            && self.origin.is_human_origin()
            && self.prompt_source.is_absent_or_one_of(PROMPT_SOURCES)
            && self.turn_origin.is_absent_or_one_of(TURN_TRIGGERS);
        if is_hosts || !allowed || marked && !self.is_attributed() {
            return EntryAuthor::Other;
        }
        let sdk = self.prompt_source.is_word(SDK) || self.turn_origin.is_word(SDK);
        let typed = match &self.entrypoint {
            // Older versions do not record it.
            HostMark::Absent => !sdk || self.origin.is_word(HUMAN),
            HostMark::Word(entry) if INTERACTIVE_ENTRYPOINTS.contains(&entry.as_str()) => {
                !sdk || self.origin.is_word(HUMAN)
            }
            HostMark::Word(entry) => SDK_ENTRYPOINTS.contains(&entry.as_str()),
            HostMark::Unknown => false,
        };
        if typed { EntryAuthor::Person } else { EntryAuthor::Program }
    }

    /// True if users type at this entry point. `None` if the host does not record it.
    pub(super) fn is_interactive(&self) -> Option<bool> {
        match &self.entrypoint {
            HostMark::Absent => None,
            HostMark::Word(entry) => Some(
                INTERACTIVE_ENTRYPOINTS.contains(&entry.as_str())
                    || SDK_ENTRYPOINTS.contains(&entry.as_str()),
            ),
            HostMark::Unknown => Some(false),
        }
    }
}
