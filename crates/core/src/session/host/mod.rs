//! How each host writes a session down: one line of its transcript at a time, pure.
//!
//! A transcript is read twice, in flat memory. First from its last line to its first, because only the end says which
//! branch is current: [`Branch`] says which lines are not on it. Then forwards: [`Transcript`] turns the lines that are
//! left into messages. A kind of line that we do not know is counted and left alone; nothing is guessed (FND-06).

mod chain;
pub mod claude;
pub mod codex;
mod content;
pub mod gemini;
pub mod pi;
mod recent;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Head, Message, clean};
use crate::base::agent::Agent;

/// Which lines of a transcript of `agent` are on its current branch.
pub fn branch(agent: Agent) -> Box<dyn Branch> {
    match agent {
        Agent::Claude => Box::<claude::Walk>::default(),
        Agent::Codex => Box::<codex::Walk>::default(),
        Agent::Gemini => Box::<gemini::Walk>::default(),
        Agent::Pi => Box::<pi::Walk>::default(),
    }
}

/// The messages in a transcript of `agent`.
pub fn transcript(agent: Agent) -> Box<dyn Transcript> {
    match agent {
        Agent::Claude => Box::<claude::Reader>::default(),
        Agent::Codex => Box::<codex::Reader>::default(),
        Agent::Gemini => Box::<gemini::Reader>::default(),
        Agent::Pi => Box::<pi::Reader>::default(),
    }
}

/// Walks a transcript's lines from the last to the first, and says which belong to the current branch.
pub trait Branch {
    /// Looks at a line that begins at byte `at`.
    fn see(&mut self, at: u64, line: &[u8]) -> Seen;

    /// When all lines were seen: where the chain to the root broke, if it did. What stands before that line has to be
    /// seen again, after [`Branch::mend`].
    fn gap(&self) -> Option<u64> {
        None
    }

    /// Goes on although an entry is missing, with the one that stands before it. `all`: gives up on branches and keeps
    /// everything from here on.
    fn mend(&mut self, _all: bool) {}

    /// The versions of the host in which it says of a prompt who gave it, as the lines that were seen show.
    fn marking(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }
}

/// Where a line stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// On the current branch, or nothing that a branch matters to.
    Kept,
    /// Taken back: not part of the session as it stands.
    Left,
    /// Kept, and so are these lines behind it, which had looked as if they were left.
    KeptWith(Vec<u64>),
}

/// Reads the lines of the current branch in their order.
pub trait Transcript {
    /// Reads a line; the messages in it go to `say`.
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> Line;
    /// What the lines so far said about the session.
    fn head(&self) -> &Head;
    /// Learns from the walk backwards which versions say who gave a prompt ([`Branch::marking`]).
    fn know(&mut self, _marking: BTreeSet<String>) {}
}

/// What a line was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Of a kind that we know, whether or not it said anything.
    Known,
    /// Of a kind, or in a version, that we do not know; this is what it called itself.
    Unknown(String),
    /// Of a kind that should say something, in a shape that we do not know.
    Strange(String),
    /// Not a line of a transcript: cut off or overwritten.
    Damaged,
}

/// Adds a paragraph to what was said.
fn add(words: &mut String, text: &str) {
    if !words.is_empty() {
        words.push('\n');
    }
    words.push_str(text);
}

/// What a tool or an agent said in `text`, perhaps nothing.
fn told(text: &str) -> String {
    clean::told(text).map(Cow::into_owned).unwrap_or_default()
}

/// What the person typed in `text`, perhaps nothing.
fn typed(text: &str) -> String {
    clean::said(text).map(Cow::into_owned).unwrap_or_default()
}
