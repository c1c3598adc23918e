//! Transcript formats of the hosts: parses one line at a time, without I/O.
//!
//! A transcript is read twice, in constant memory. The first pass goes backwards, because only the end of the
//! file says which branch is current; [`BranchWalk`] marks lines off that branch. The second pass goes forwards;
//! [`TranscriptParser`] turns the remaining lines into messages. Unknown line types are counted and skipped, never
//! guessed (FND-06).

mod branch_chain;
pub mod claude;
pub mod codex;
mod content;
pub mod gemini;
pub mod pi;
mod recent_ids;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Message, SessionHead, clean};
use crate::base::agent::Agent;

/// Creates the branch selector for transcripts of `agent`.
pub fn branch_walk(agent: Agent) -> Box<dyn BranchWalk> {
    match agent {
        Agent::Claude => Box::<claude::ClaudeWalk>::default(),
        Agent::Codex => Box::<codex::CodexWalk>::default(),
        Agent::Gemini => Box::<gemini::GeminiWalk>::default(),
        Agent::Pi => Box::<pi::PiWalk>::default(),
    }
}

/// Creates the message reader for transcripts of `agent`.
pub fn transcript_parser(agent: Agent) -> Box<dyn TranscriptParser> {
    match agent {
        Agent::Claude => Box::<claude::ClaudeReader>::default(),
        Agent::Codex => Box::<codex::CodexReader>::default(),
        Agent::Gemini => Box::<gemini::GeminiReader>::default(),
        Agent::Pi => Box::<pi::PiReader>::default(),
    }
}

/// Reads a transcript's lines last to first and selects those on the current branch.
pub trait BranchWalk {
    /// Classifies the line that begins at byte `at`.
    fn visit_line(&mut self, at: u64, line: &[u8]) -> BranchVerdict;

    /// After all lines: the offset at which the chain to the root broke, if it did. Lines before it must be
    /// read again, after [`BranchWalk::bridge_gap`].
    fn missing_parent(&self) -> Option<u64> {
        None
    }

    /// Continues over a missing entry with the one before it. With `all` it gives up on branches and keeps
    /// everything from there on.
    fn bridge_gap(&mut self, _all: bool) {}

    /// The host versions that mark the source of prompts, as far as the lines show.
    fn marking(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }
}

/// The place of a line relative to the current branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchVerdict {
    /// On the current branch, or independent of branches.
    Kept,
    /// Taken back, so not part of the current session.
    Left,
    /// Kept, together with these later lines that seemed to be off the branch.
    KeptWith(Vec<u64>),
}

/// Reads the lines of the current branch in order.
pub trait TranscriptParser {
    /// Reads a line and passes its messages to `say`.
    fn line(&mut self, line: &[u8], say: &mut dyn FnMut(Message)) -> LineVerdict;
    /// The session metadata in the lines so far.
    fn head(&self) -> &SessionHead;
    /// Receives the host versions that mark prompts, found by the backwards pass ([`BranchWalk::marking`]).
    fn know(&mut self, _marking: BTreeSet<String>) {}
}

/// The classification of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineVerdict {
    /// A known type, with or without content.
    Known,
    /// An unknown type or version, by its own name.
    Unknown(String),
    /// A known type in an unknown shape.
    Strange(String),
    /// Not a valid line: cut off or overwritten.
    Damaged,
}

/// Appends a paragraph to `words`.
fn add(words: &mut String, text: &str) {
    if !words.is_empty() {
        words.push('\n');
    }
    words.push_str(text);
}

/// The words of a tool or an agent in `text`; may be empty.
fn clean_output_or_empty(text: &str) -> String {
    clean::clean_output(text).map(Cow::into_owned).unwrap_or_default()
}

/// The words that the user typed in `text`; may be empty.
fn typed_text(text: &str) -> String {
    clean::clean_user_text(text).map(Cow::into_owned).unwrap_or_default()
}
