//! How each host writes a session down: one line of its transcript at a time, pure.
//!
//! A transcript is read twice, in flat memory. First from its last line to its first, because only the end says which
//! branch is current: [`Branch`] says which lines are not on it. Then forwards: [`Transcript`] turns the lines that are
//! left into messages. A kind of line that we do not know is counted and left alone; nothing is guessed (FND-06).

use super::{Head, Message};

/// Walks a transcript's lines from the last to the first, and says which belong to the current branch.
pub trait Branch {
    /// Looks at a line that begins at byte `at`.
    fn see(&mut self, at: u64, line: &[u8]) -> Seen;
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
}

/// What a line was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// Of a kind that we know, whether or not it said anything.
    Known,
    /// Of a kind, or in a version, that we do not know; this is what it called itself.
    Unknown(String),
    /// Not a line of a transcript: cut off or overwritten.
    Damaged,
}
