//! Finds the lines of a transcript that are off its current branch, in one pass from the last line to the
//! first.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};

use rekindle_core::base::agent::Agent;
use rekindle_core::session::host::{self, BranchVerdict};

use super::lines::{self, LineSpan, TranscriptLine};
use super::{MAX_LINE_BYTES, skeleton};

/// The maximum number of missing entries that are bridged. A file with more is badly damaged, and all of it
/// counts.
const MAX_GAPS: usize = 8;

/// The lines off the current branch, in order, and the host versions that mark the author of a prompt.
pub(super) fn omitted_lines(
    agent: Agent,
    file: &mut File,
    end: u64,
) -> io::Result<(Vec<LineSpan>, BTreeSet<String>)> {
    let mut branch = host::branch_walk(agent);
    let mut left = OmittedLines::default();
    let mut until = end;
    for gaps in 0.. {
        let mut names = file.try_clone()?;
        let mut problem = None;
        lines::each_line_backwards(
            file,
            until,
            MAX_LINE_BYTES,
            lines::READ_BLOCK_BYTES,
            &mut |place, line| {
                let seen = match line {
                    TranscriptLine::Whole(line) | TranscriptLine::Last(line) => {
                        branch.visit_line(place.0, line)
                    }
                    TranscriptLine::Oversized => match names.seek(SeekFrom::Start(place.0)) {
                        Ok(_) => {
                            let whole = BufReader::new((&mut names).take(place.1 - place.0));
                            branch.visit_line(place.0, &skeleton::line_skeleton(whole))
                        }
                        Err(error) => {
                            problem = Some(error);
                            BranchVerdict::Kept
                        }
                    },
                };
                left.note(place, seen);
            },
        )?;
        if let Some(problem) = problem {
            return Err(problem);
        }
        let Some(gap) = branch.missing_parent().filter(|gap| *gap > 0 && *gap < until) else { break };
        left.forget_before(gap);
        branch.bridge_gap(gaps >= MAX_GAPS);
        until = gap;
    }
    Ok((left.line_spans(), branch.marking()))
}

/// Skipped lines, collected from the last to the first.
#[derive(Default)]
struct OmittedLines {
    /// The final ranges; adjacent ones are merged.
    settled: Vec<LineSpan>,
    /// The lines that may still turn out to be kept.
    candidates: Vec<LineSpan>,
}

impl OmittedLines {
    /// The maximum number of lines that are not final.
    const NEAR: usize = 2048;

    fn note(&mut self, place: LineSpan, seen: BranchVerdict) {
        match seen {
            BranchVerdict::Kept => {}
            BranchVerdict::Left => {
                self.candidates.push(place);
                if self.candidates.len() == 2 * Self::NEAR {
                    self.settle_lines(Self::NEAR);
                }
            }
            BranchVerdict::KeptWith(others) => self.candidates.retain(|(at, _)| !others.contains(at)),
        }
    }

    /// Makes the first `count` of the pending lines final.
    fn settle_lines(&mut self, count: usize) {
        for place in self.candidates.drain(..count) {
            match self.settled.last_mut() {
                Some(last) if last.0 == place.1 => last.0 = place.0,
                _ => self.settled.push(place),
            }
        }
    }

    /// Drops the records of lines before `at`, because they will be read again.
    fn forget_before(&mut self, at: u64) {
        self.settle_lines(self.candidates.len());
        self.settled.retain(|(_, end)| *end > at);
        if let Some(last) = self.settled.last_mut() {
            last.0 = last.0.max(at);
        }
    }

    fn line_spans(mut self) -> Vec<LineSpan> {
        self.settle_lines(self.candidates.len());
        self.settled.reverse();
        self.settled
    }
}
