//! The noise gate: drops a session with nothing to learn before any model is called, with a reason (B-04).
//!
//! It counts words and calls without understanding them: a handful of words to an agent that changes nothing
//! is rarely worth a model call. If the statement classifier finds a fact or a request, the session is kept
//! anyway.

use std::fmt;

use super::message::{Message, MessageRole};
use super::remember_requests;

/// Fewer user words than this in a session contain neither a preference nor a decision.
pub const MIN_WORDS: u64 = 8;
/// A single request with fewer words than this, answered without a change or a failure, is a look-up.
pub const MIN_REQUEST_WORDS: u64 = 25;

/// Counts over a session, collected message by message in constant memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// The number of user messages.
    pub user_messages: u64,
    /// The number of words in user messages.
    pub user_words: u64,
    /// Agent messages that contain text.
    pub answers: u64,
    /// The number of tool calls.
    pub calls: u64,
    /// Tool calls that failed.
    pub failures: u64,
    /// Tool calls that change files.
    pub changes: u64,
    /// Tool calls that read files.
    pub file_reads: u64,
    /// Explicit requests to remember something.
    pub memory_requests: u64,
    /// Summaries by the host, each of which means that something was dropped.
    pub summaries: u64,
}

/// The reason why a session has nothing to learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseReason {
    /// The user said nothing.
    Silent,
    /// The agent neither answered nor did anything.
    Unanswered,
    /// Few words, and nothing was changed.
    SmallTalk {
        /// The number of user words.
        words: u64,
    },
    /// One short request, answered without a change or a failure.
    Lookup {
        /// The number of user words.
        words: u64,
    },
}

impl fmt::Display for NoiseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent => f.write_str("nobody said anything in it"),
            Self::Unanswered => f.write_str("the agent neither answered nor did anything"),
            Self::SmallTalk { words } => write!(f, "only {words} words were said and no file was changed"),
            Self::Lookup { words } => {
                write!(f, "one request of {words} words, answered without a change or a failure")
            }
        }
    }
}

impl SessionCounts {
    /// Adds a message to the counts.
    pub fn count(&mut self, message: &Message) {
        match message.role {
            MessageRole::User => {
                self.user_messages += 1;
                self.user_words += count_words(&message.text);
                self.memory_requests += remember_requests::find(&message.text).len() as u64;
            }
            MessageRole::Assistant => {
                self.answers += u64::from(!message.text.trim().is_empty());
                self.calls += message.calls.len() as u64;
                self.changes += message.calls.iter().filter(|call| !call.writes.is_empty()).count() as u64;
                self.file_reads += message.calls.iter().filter(|call| !call.reads.is_empty()).count() as u64;
            }
            MessageRole::Tool => {
                self.failures += u64::from(message.outcome.as_ref().is_some_and(|outcome| outcome.failed));
            }
            MessageRole::Summary => self.summaries += 1,
        }
    }

    /// The reason why there is nothing to learn. `None` if there may be something.
    pub fn noise_reason(&self) -> Option<NoiseReason> {
        if self.user_messages == 0 {
            return Some(NoiseReason::Silent);
        }
        // An explicit request is worth keeping on its own, and a summary means that there was more.
        if self.memory_requests > 0 || self.summaries > 0 {
            return None;
        }
        if self.answers == 0 && self.calls == 0 {
            return Some(NoiseReason::Unanswered);
        }
        let words = self.user_words;
        if self.changes > 0 || self.failures > 0 {
            return None;
        }
        if words < MIN_WORDS {
            return Some(NoiseReason::SmallTalk { words });
        }
        (self.user_messages == 1 && words < MIN_REQUEST_WORDS).then_some(NoiseReason::Lookup { words })
    }
}

/// The number of words in `text`. In scripts without spaces two characters count as one word.
fn count_words(text: &str) -> u64 {
    let (mut words, mut dense) = (0_u64, 0_u64);
    for word in text.split_whitespace() {
        let signs =
            word.chars().filter(|c| matches!(*c as u32, 0x3040..=0x30FF | 0x3400..=0x9FFF)).count() as u64;
        dense += signs;
        words += u64::from(signs == 0);
    }
    words + dense.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::{ToolCall, ToolOutcome};

    fn message(role: MessageRole, text: &str) -> Message {
        Message::new("", None, role, text)
    }

    fn facts(messages: &[Message]) -> SessionCounts {
        let mut facts = SessionCounts::default();
        messages.iter().for_each(|message| facts.count(message));
        facts
    }

    fn call(writes: &[&str]) -> Message {
        let call = ToolCall {
            id: String::new(),
            tool: "Edit".to_owned(),
            input: String::new(),
            reads: Vec::new(),
            writes: writes.iter().map(|&name| name.to_owned()).collect(),
            ..ToolCall::default()
        };
        Message { calls: vec![call], ..message(MessageRole::Assistant, "") }
    }

    #[test]
    fn b_04_nothing_to_learn_is_said_in_words() {
        let hi = message(MessageRole::User, "hi there");
        let answer = message(MessageRole::Assistant, "Hello!");
        assert_eq!(facts(&[]).noise_reason(), Some(NoiseReason::Silent));
        assert_eq!(facts(std::slice::from_ref(&answer)).noise_reason(), Some(NoiseReason::Silent));
        assert_eq!(facts(std::slice::from_ref(&hi)).noise_reason(), Some(NoiseReason::Unanswered));
        let noise = facts(&[hi, answer.clone()]).noise_reason().unwrap();
        assert_eq!(noise.to_string(), "only 2 words were said and no file was changed");
        let lookup = message(MessageRole::User, "which of the two functions in the parser is called first");
        let noise = facts(&[lookup, answer]).noise_reason().unwrap();
        assert_eq!(noise.to_string(), "one request of 11 words, answered without a change or a failure");
    }

    #[test]
    fn b_04_whatever_may_hold_something_stays() {
        let hi = message(MessageRole::User, "fix it");
        let answer = message(MessageRole::Assistant, "Done.");
        assert_eq!(facts(&[hi.clone(), call(&["a.rs"])]).noise_reason(), None);
        let failed = ToolOutcome { failed: true, ..ToolOutcome::default() };
        let failure = Message { outcome: Some(failed), ..message(MessageRole::Tool, "boom") };
        assert_eq!(facts(&[hi.clone(), call(&[]), failure]).noise_reason(), None);
        assert!(facts(&[hi.clone(), call(&[])]).noise_reason().is_some());
        let asked = message(MessageRole::User, "Remember that we deploy on Tuesdays.");
        assert_eq!(facts(&[asked]).noise_reason(), None);
        let summary = message(MessageRole::Summary, "…");
        assert_eq!(facts(&[hi, summary, answer.clone()]).noise_reason(), None);
        let request = message(
            MessageRole::User,
            "we use tabs here because the formatter of the old editor breaks on spaces",
        );
        assert_eq!(facts(&[request.clone(), answer.clone(), request, answer]).noise_reason(), None);
    }

    #[test]
    fn words_are_counted_in_every_script() {
        assert_eq!(count_words("one two  three\n"), 3);
        assert_eq!(count_words("今後はタブを使ってください"), 7);
        assert_eq!(count_words(""), 0);
    }
}
