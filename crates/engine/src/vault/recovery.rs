//! Crash recovery: the next writer finishes or reverts the change of a killed one.
//!
//! The temporary files show how far it came. A change that reached the journal is finished: each staged file
//! that still exists takes its place. If somebody changed a note meanwhile, the change is reverted instead;
//! it was never reported as done.

use rekindle_core::base::hash::ContentHash;
use rekindle_core::vault::journal::FileOperation;

use super::Error;
use super::commit::{CommitStep, VaultWriter};
use super::journal::ChangeOutcome;
use crate::platform::disk;

#[derive(Clone, Copy, PartialEq, Eq)]
enum RecoveryProgress {
    Applied,
    Waiting,
    Blocked,
}

impl VaultWriter<'_> {
    pub(super) fn recover_interrupted(&mut self) -> Result<(), Error> {
        let left = self.lock.interrupted_change()?;
        if let Some(change) = self.journal.pending_change()? {
            let outcome = match self.vault.steps(&change) {
                Ok(steps) => self.conclude(&steps)?,
                // A folder was replaced by a link that leads outside. The change was never reported as done,
                // and it must not block all later writes.
                Err(_) => ChangeOutcome::Aborted,
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

    fn conclude(&mut self, steps: &[CommitStep]) -> Result<ChangeOutcome, Error> {
        let progress = steps.iter().map(CommitStep::progress).collect::<Result<Vec<_>, _>>()?;
        match progress.contains(&RecoveryProgress::Blocked) {
            false => self.finish(steps, &progress),
            true => self.abandon(steps, &progress),
        }
    }

    fn finish(
        &mut self,
        steps: &[CommitStep],
        progress: &[RecoveryProgress],
    ) -> Result<ChangeOutcome, Error> {
        for (step, progress) in steps.iter().zip(progress) {
            if *progress == RecoveryProgress::Waiting {
                step.apply()?;
            }
        }
        self.make_durable(steps)?;
        Ok(ChangeOutcome::Done)
    }

    fn abandon(
        &mut self,
        steps: &[CommitStep],
        progress: &[RecoveryProgress],
    ) -> Result<ChangeOutcome, Error> {
        for (step, progress) in steps.iter().zip(progress).rev() {
            if *progress == RecoveryProgress::Applied && step.is_untouched()? {
                step.revert()?;
            }
        }
        self.make_durable(steps)?;
        Ok(ChangeOutcome::Aborted)
    }
}

impl CommitStep {
    fn hashes(&self) -> Result<(Option<ContentHash>, Option<ContentHash>), Error> {
        let target = disk::hash(&self.target).map_err(Error::io("read", &self.target))?;
        let staged = disk::hash(&self.staged).map_err(Error::io("read", &self.staged))?;
        Ok((target, staged))
    }

    fn progress(&self) -> Result<RecoveryProgress, Error> {
        let (target, staged) = self.hashes()?;
        Ok(match &self.op {
            FileOperation::Create { after, .. } if staged == Some(*after) => match target {
                None => RecoveryProgress::Waiting,
                Some(_) => RecoveryProgress::Blocked,
            },
            FileOperation::Edit { before, after, .. } if staged == Some(*after) => {
                match target == Some(*before) {
                    true => RecoveryProgress::Waiting,
                    false => RecoveryProgress::Blocked,
                }
            }
            FileOperation::Append { before, size, after, patch: Some(patch), .. } => {
                return self.append_progress(target, (*before, *size), *after, patch.inserted());
            }
            FileOperation::Remove { before, .. } if staged.is_none() => match target {
                None => RecoveryProgress::Applied,
                Some(hash) if hash == *before => RecoveryProgress::Waiting,
                Some(_) => RecoveryProgress::Blocked,
            },
            // After the move is done, a file at the old place is another one.
            FileOperation::Move { before, .. } if staged.is_some() && target != Some(*before) => match target
            {
                None => RecoveryProgress::Waiting,
                Some(_) => RecoveryProgress::Blocked,
            },
            _ => RecoveryProgress::Applied,
        })
    }

    /// The state of an append: complete, missing, partial, or with edits of others. In the last case the file
    /// stays as edited, with our text or without.
    fn append_progress(
        &self,
        target: Option<ContentHash>,
        (before, size): (ContentHash, u64),
        after: ContentHash,
        added: &str,
    ) -> Result<RecoveryProgress, Error> {
        if target == Some(after) {
            return Ok(RecoveryProgress::Applied);
        }
        let read = |error| Error::io("read", &self.target)(error);
        let begun = disk::verify_appended(&self.target, size, added.as_bytes()).map_err(read)?.is_some();
        if begun && disk::hash_of_first(&self.target, size).map_err(read)? == Some(before) {
            return Ok(RecoveryProgress::Waiting);
        }
        let has_it = match std::fs::read(&self.target) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).contains(added),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => return Err(read(error)),
        };
        Ok(if has_it { RecoveryProgress::Applied } else { RecoveryProgress::Blocked })
    }

    /// True if nobody changed the target since this step was applied, so that it can be reverted.
    fn is_untouched(&self) -> Result<bool, Error> {
        let (target, staged) = self.hashes()?;
        Ok(match &self.op {
            FileOperation::Create { after, .. } => staged.is_none() && target == Some(*after),
            FileOperation::Move { .. } => staged.is_none() && target.is_some(),
            FileOperation::Edit { after, .. } => staged.is_some() && target == Some(*after),
            FileOperation::Append { after, .. } => target == Some(*after),
            FileOperation::Remove { .. } => staged.is_some() && target.is_none(),
            FileOperation::Forgotten => false,
        })
    }
}
