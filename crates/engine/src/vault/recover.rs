//! Crash recovery: the next writer finishes or reverts the change of a killed one.
//!
//! The temporary files show how far it came. A change that reached the journal is finished: each staged file
//! that still exists takes its place. If somebody changed a note meanwhile, the change is reverted instead;
//! it was never reported as done.

use rekindle_core::base::hash::ContentHash;
use rekindle_core::vault::journal::Op;

use super::Error;
use super::commit::{Step, Writer};
use super::journal::Outcome;
use crate::platform::disk;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    Applied,
    Waiting,
    Blocked,
}

impl Writer<'_> {
    pub(super) fn recover(&mut self) -> Result<(), Error> {
        let left = self.lock.left_over()?;
        if let Some(change) = self.journal.pending()? {
            let outcome = match self.vault.steps(&change) {
                Ok(steps) => self.conclude(&steps)?,
                // A folder was replaced by a link that leads outside. The change was never reported as done,
                // and it must not block all later writes.
                Err(_) => Outcome::Aborted,
            };
            self.journal.end(&change.id, outcome)?;
        }
        if let Some(left) = left {
            // Staged for a change that never reached the journal and was never reported.
            for temporary in &left.temporaries {
                disk::remove(temporary).map_err(Error::io("remove", temporary))?;
            }
            self.lock.clear()?;
        }
        Ok(())
    }

    fn conclude(&mut self, steps: &[Step]) -> Result<Outcome, Error> {
        let progress = steps.iter().map(Step::progress).collect::<Result<Vec<_>, _>>()?;
        match progress.contains(&Progress::Blocked) {
            false => self.finish(steps, &progress),
            true => self.abandon(steps, &progress),
        }
    }

    fn finish(&mut self, steps: &[Step], progress: &[Progress]) -> Result<Outcome, Error> {
        for (step, progress) in steps.iter().zip(progress) {
            if *progress == Progress::Waiting {
                step.apply()?;
            }
        }
        self.settle(steps)?;
        Ok(Outcome::Done)
    }

    fn abandon(&mut self, steps: &[Step], progress: &[Progress]) -> Result<Outcome, Error> {
        for (step, progress) in steps.iter().zip(progress).rev() {
            if *progress == Progress::Applied && step.is_untouched()? {
                step.take_back()?;
            }
        }
        self.settle(steps)?;
        Ok(Outcome::Aborted)
    }
}

impl Step {
    fn hashes(&self) -> Result<(Option<ContentHash>, Option<ContentHash>), Error> {
        let target = disk::hash(&self.target).map_err(Error::io("read", &self.target))?;
        let staged = disk::hash(&self.staged).map_err(Error::io("read", &self.staged))?;
        Ok((target, staged))
    }

    fn progress(&self) -> Result<Progress, Error> {
        let (target, staged) = self.hashes()?;
        Ok(match &self.op {
            Op::Create { after, .. } if staged == Some(*after) => match target {
                None => Progress::Waiting,
                Some(_) => Progress::Blocked,
            },
            Op::Edit { before, after, .. } if staged == Some(*after) => match target == Some(*before) {
                true => Progress::Waiting,
                false => Progress::Blocked,
            },
            Op::Append { before, size, after, patch: Some(patch), .. } => {
                return self.grown(target, (*before, *size), *after, patch.inserted());
            }
            Op::Remove { before, .. } if staged.is_none() => match target {
                None => Progress::Applied,
                Some(hash) if hash == *before => Progress::Waiting,
                Some(_) => Progress::Blocked,
            },
            // After the move is done, a file at the old place is another one.
            Op::Move { before, .. } if staged.is_some() && target != Some(*before) => match target {
                None => Progress::Waiting,
                Some(_) => Progress::Blocked,
            },
            _ => Progress::Applied,
        })
    }

    /// The state of an append: complete, missing, partial, or with edits of others. In the last case the file
    /// stays as edited, with our text or without.
    fn grown(
        &self,
        target: Option<ContentHash>,
        (before, size): (ContentHash, u64),
        after: ContentHash,
        added: &str,
    ) -> Result<Progress, Error> {
        if target == Some(after) {
            return Ok(Progress::Applied);
        }
        let read = |error| Error::io("read", &self.target)(error);
        let begun = disk::appended(&self.target, size, added.as_bytes()).map_err(read)?.is_some();
        if begun && disk::hash_of_first(&self.target, size).map_err(read)? == Some(before) {
            return Ok(Progress::Waiting);
        }
        let has_it = match std::fs::read(&self.target) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).contains(added),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(read(error)),
        };
        Ok(if has_it { Progress::Applied } else { Progress::Blocked })
    }

    /// True if nobody changed the target since this step was applied, so that it can be reverted.
    fn is_untouched(&self) -> Result<bool, Error> {
        let (target, staged) = self.hashes()?;
        Ok(match &self.op {
            Op::Create { after, .. } => staged.is_none() && target == Some(*after),
            Op::Move { .. } => staged.is_none() && target.is_some(),
            Op::Edit { after, .. } => staged.is_some() && target == Some(*after),
            Op::Append { after, .. } => target == Some(*after),
            Op::Remove { .. } => staged.is_some() && target.is_none(),
            Op::Forgotten => false,
        })
    }
}
