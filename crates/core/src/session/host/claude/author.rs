//! Who wrote an entry, as far as the host marks it: the person, a program that drives the host, or neither.

use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

use super::Entry;

/// Entry points at which a person types. Any other is a program's: `sdk-*`, an action of a CI, one that we do not know.
const INTERACTIVE: &[&str] = &["cli", "remote", "local-agent"];
/// Entry points at which a person types, and that hand it on through the SDK: `sdk` marks their prompts, too.
const OVER_SDK: &[&str] = &["claude-vscode", "claude-jetbrains", "claude-desktop", "claude-desktop-3p"];
/// Kinds of users that are people.
const PEOPLE: &[&str] = &["external", "ant"];
/// Where a prompt came from, if a person typed it or a program gave it.
const PROMPTS: &[&str] = &["typed", "queued", SDK];
/// What began a turn, likewise.
const TURNS: &[&str] = &[HUMAN, SDK];
const HUMAN: &str = "human";
const SDK: &str = "sdk";

/// Who wrote an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// The person.
    Person,
    /// A program that started the host or drives it: `claude -p`, the SDK.
    Program,
    /// A schedule, a hook, another agent, the host itself; or nobody knows.
    Other,
}

/// What a host notes about an entry: nothing, a word, or something that we do not know. No value makes the line unreadable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    #[default]
    Absent,
    Word(String),
    Unknown,
}

impl Mark {
    fn is(&self, word: &str) -> bool {
        matches!(self, Self::Word(marked) if marked == word)
    }

    /// Absent, or one of `words`.
    fn allows(&self, words: &[&str]) -> bool {
        match self {
            Self::Absent => true,
            Self::Word(word) => words.contains(&word.as_str()),
            Self::Unknown => false,
        }
    }

    pub(super) fn is_absent(&self) -> bool {
        *self == Self::Absent
    }

    /// Whether this, as the `origin` of a text, leaves it to the person.
    pub(super) fn is_human_origin(&self) -> bool {
        self.allows(&[HUMAN])
    }
}

impl<'de> Deserialize<'de> for Mark {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Value::deserialize(deserializer)? {
            Value::Null => Self::Absent,
            Value::String(word) => Self::Word(word),
            // `origin` is an object with a kind.
            Value::Object(mut fields) => match fields.remove("kind") {
                Some(Value::String(kind)) => Self::Word(kind),
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        })
    }
}

impl Entry<'_> {
    /// Whether the host says in any way who gave it this text.
    pub(super) fn is_marked(&self) -> bool {
        !(self.origin.is_absent() && self.prompt_source.is_absent() && self.turn_origin.is_absent())
    }

    /// Whether the host marks this as a prompt. Older versions only marked what was none.
    pub(super) fn marks_prompts(&self) -> bool {
        let says = |mark: &Mark, words: &[&str]| !mark.is_absent() && mark.allows(words);
        says(&self.origin, &[HUMAN]) || says(&self.prompt_source, PROMPTS) || says(&self.turn_origin, TURNS)
    }

    /// Who wrote a text of this entry. `marked`: this version of the host says it of every prompt, so that one of which it
    /// says nothing is nobody's.
    pub(super) fn author(&self, marked: bool) -> Author {
        let is_hosts = self.is_meta
            || self.is_synthetic
            || self.is_visible_in_transcript_only
            || self.repeats_compact_summary
            || self.scheduled_task_id.is_some();
        let allowed = self.user_type.allows(PEOPLE)
            && self.origin.is_human_origin()
            && self.prompt_source.allows(PROMPTS)
            && self.turn_origin.allows(TURNS);
        if is_hosts || !allowed || marked && !self.is_marked() {
            return Author::Other;
        }
        let sdk = self.prompt_source.is(SDK) || self.turn_origin.is(SDK);
        let typed = match &self.entrypoint {
            // Older versions do not say.
            Mark::Absent => !sdk || self.origin.is(HUMAN),
            Mark::Word(entry) if INTERACTIVE.contains(&entry.as_str()) => !sdk || self.origin.is(HUMAN),
            Mark::Word(entry) => OVER_SDK.contains(&entry.as_str()),
            Mark::Unknown => false,
        };
        if typed { Author::Person } else { Author::Program }
    }

    /// Whether a person types where this entry was made; `None` if the host does not say.
    pub(super) fn is_interactive(&self) -> Option<bool> {
        match &self.entrypoint {
            Mark::Absent => None,
            Mark::Word(entry) => {
                Some(INTERACTIVE.contains(&entry.as_str()) || OVER_SDK.contains(&entry.as_str()))
            }
            Mark::Unknown => Some(false),
        }
    }
}
