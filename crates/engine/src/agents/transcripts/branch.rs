//! Finds the lines of a transcript that are off its current branch, in one pass from the last line to the
//! first.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};

use rekindle_core::base::agent::Agent;
use rekindle_core::session::host::{self, Seen};

use super::lines::{self, Line, Place};
use super::{MAX_LINE, skeleton};

/// The maximum number of missing entries that are bridged. A file with more is badly damaged, and all of it
/// counts.
const MAX_GAPS: usize = 8;

/// The lines off the current branch, in order, and the host versions that mark the author of a prompt.
pub(super) fn left(agent: Agent, file: &mut File, end: u64) -> io::Result<(Vec<Place>, BTreeSet<String>)> {
    let mut branch = host::branch(agent);
    let mut left = Left::default();
    let mut until = end;
    for gaps in 0.. {
        let mut names = file.try_clone()?;
        let mut problem = None;
        lines::backwards(file, until, MAX_LINE, lines::BLOCK, &mut |place, line| {
            let seen = match line {
                Line::Whole(line) | Line::Last(line) => branch.see(place.0, line),
                Line::Oversized => match names.seek(SeekFrom::Start(place.0)) {
                    Ok(_) => {
                        let whole = BufReader::new((&mut names).take(place.1 - place.0));
                        branch.see(place.0, &skeleton::of(whole))
                    }
                    Err(error) => {
                        problem = Some(error);
                        Seen::Kept
                    }
                },
            };
            left.note(place, seen);
        })?;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let Some(gap) = branch.gap().filter(|gap| *gap > 0 && *gap < until) else { break };
        left.forget_before(gap);
        branch.mend(gaps >= MAX_GAPS);
        until = gap;
    }
    Ok((left.places(), branch.marking()))
}

/// Skipped lines, collected from the last to the first.
#[derive(Default)]
struct Left {
    /// The final ranges; adjacent ones are merged.
    settled: Vec<Place>,
    /// The lines that may still turn out to be kept.
    near: Vec<Place>,
}

impl Left {
    /// The maximum number of lines that are not final.
    const NEAR: usize = 2048;

    fn note(&mut self, place: Place, seen: Seen) {
        match seen {
            Seen::Kept => {}
            Seen::Left => {
                self.near.push(place);
                if self.near.len() == 2 * Self::NEAR {
                    self.settle(Self::NEAR);
                }
            }
            Seen::KeptWith(others) => self.near.retain(|(at, _)| !others.contains(at)),
        }
    }

    /// Makes the first `count` of the pending lines final.
    fn settle(&mut self, count: usize) {
        for place in self.near.drain(..count) {
            match self.settled.last_mut() {
                Some(last) if last.0 == place.1 => last.0 = place.0,
                _ => self.settled.push(place),
            }
        }
    }

    /// Drops the records of lines before `at`, because they will be read again.
    fn forget_before(&mut self, at: u64) {
        self.settle(self.near.len());
        self.settled.retain(|(_, end)| *end > at);
        if let Some(last) = self.settled.last_mut() {
            last.0 = last.0.max(at);
        }
    }

    fn places(mut self) -> Vec<Place> {
        self.settle(self.near.len());
        self.settled.reverse();
        self.settled
    }
}
